/** From messages of the server to the values that bots see. */

import type { Deal } from "./dealing.js";
import type { Encoding } from "./encoding.js";
import { ProtocolError } from "./errors.js";
import {
  ActionSource,
  type MatchOffer,
  type Event as WireEvent,
} from "./gen/fritillary/api/v1/bot.js";
import {
  Consequence,
  Fault,
  MatchEndKind,
  type MatchResult,
  type SeatInfo,
} from "./gen/fritillary/api/v1/common.js";
import { shown } from "./text.js";
import type { Event, MatchInfo, Outcome, Player } from "./values.js";

/** Return the word for an enum value; unknown ones are of a later version. */
function word(names: Record<number, string>, prefix: string, number: number): string {
  const name = names[number];
  if (name === undefined) return "unknown";
  return name.slice(prefix.length).toLowerCase().replaceAll("_", "-");
}

/** Return who sits where. */
function player(message: SeatInfo): Player {
  return {
    seat: message.seat,
    role: message.role,
    name: message.player?.name ?? "",
    version: message.player?.version ?? "",
    author: message.player?.author ?? "",
    clock: message.clock ?? {},
  };
}

/**
 * Return what an offer tells about a match.
 *
 * @throws {ProtocolError} if the offer makes no sense.
 */
export function matchInfo(offer: MatchOffer, encoding: Encoding): MatchInfo {
  const { game, matchId, seat, seats, table } = offer;
  if (!matchId || !game || seat >= seats.length) {
    const about = `seat ${seat} of ${seats.length} in match '${shown(matchId.slice(0, 64))}'`;
    throw new ProtocolError(`the server offered ${about}`);
  }
  return {
    matchId,
    game: game.id,
    fullId: fullId(offer),
    rulesVersion: game.rulesVersion,
    variants: game.variants,
    seat,
    seats: seats.length,
    players: seats.map(player),
    options: offer.options.length ? encoding.decode(offer.options, "options") : {},
    seed: offer.botSeed,
    tableSize: table?.size,
    tableHash: table?.hash,
    schemasHash: offer.schemasHash,
    marginMs: offer.terms?.marginMs ?? 0,
    ceilingMs: offer.terms?.ceilingMs,
    nonceWanted: offer.nonceWanted,
    resumed: offer.resumed,
  };
}

/** Return the id of the game of an offer with its variants. */
export function fullId(offer: MatchOffer): string {
  const { id = "", variants = [] } = offer.game ?? {};
  return [id, ...variants.map((variant) => variant.id)].join("+");
}

/** Return how a match ended, for a seat of it. */
export function outcome(result: MatchResult | undefined, seat: number, deal: Deal): Outcome {
  const { reason = "", scores = [], placing = [] } = result?.outcome ?? {};
  return {
    seat,
    kind: word(MatchEndKind, "MATCH_END_KIND_", result?.kind ?? 0),
    code: result?.code ?? "",
    message: result?.message ?? "",
    reason,
    scores,
    placing,
    score: scores[seat],
    place: placing[seat],
    deal,
  };
}

/** Return the outcome of a match of which the server knows no more. */
export function forgotten(seat: number, code: string, message: string): Outcome {
  const unknown = { kind: "unknown", code, message, deal: "not-revealed" as const };
  return { ...outcome(undefined, seat, "not-revealed"), ...unknown };
}

/**
 * Return an event with its action decoded.
 *
 * @throws {ProtocolError} if the action cannot be read.
 */
export function event(message: WireEvent, encoding: Encoding): Event {
  const { number, ply, body } = message;
  const common = { number, ply, kind: body?.$case ?? "unknown" };
  switch (body?.$case) {
    case "action": {
      const { seat, index, action, text, source } = body.action;
      return {
        ...common,
        seat,
        index,
        text,
        action: encoding.decode(action, "an action"),
        source: word(ActionSource, "ACTION_SOURCE_", source),
      };
    }
    case "chance": {
      const { action, text } = body.chance;
      return { ...common, action: encoding.decode(action, "a chance action"), text };
    }
    case "ruling": {
      const { seat, fault, consequence, error } = body.ruling;
      return {
        ...common,
        seat,
        fault: word(Fault, "FAULT_", fault),
        consequence: word(Consequence, "CONSEQUENCE_", consequence),
        code: error?.code ?? "",
        message: error?.message ?? "",
      };
    }
    case "resigned":
      return { ...common, seat: body.resigned.seat };
    case "paused":
      return { ...common, message: body.paused.message };
    case "ended":
      return { ...common, code: body.ended.code, message: body.ended.message };
    default:
      return common;
  }
}
