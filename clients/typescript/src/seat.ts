/** One seat in one match: what the bot is asked, and in which order. */

import { randomBytes } from "node:crypto";
import { messageOf, RESIGN } from "./answers.js";
import { Ask } from "./ask.js";
import type { Bot } from "./bot.js";
import { checkDeal } from "./dealing.js";
import type { Encoding } from "./encoding.js";
import { ArenaError, BotError, DecisionError, Declined, LinkError } from "./errors.js";
import type {
  Ack,
  BotMessage,
  DecisionClosed,
  DecisionRequest,
  Limits,
  MatchOffer,
  MatchStatus,
  Event as WireEvent,
} from "./gen/fritillary/api/v1/bot.js";
import { MatchPhase, type MatchResult } from "./gen/fritillary/api/v1/common.js";
import * as reading from "./reading.js";
import type { Table } from "./tables.js";
import { sentenceOf, shown } from "./text.js";
import { nowMs } from "./time.js";
import type { MatchInfo, Outcome } from "./values.js";

/** How often a table is asked for before the seat is given up, and the wait between. */
const TRIES = 3;
const BETWEEN_MS = 200;

/** Bytes of a nonce that is drawn here. */
const NONCE_BYTES = 16;

/** MessagePack of an object without keys. */
const NO_OPTIONS = new Uint8Array([0x80]);

/** What a seat needs of its client. */
export interface Host {
  readonly encoding: Encoding;
  readonly limits: Limits | undefined;
  /** Whether a bot that fails resigns. */
  readonly resigns: boolean;
  /** The nonce of every match; undefined: drawn anew for each. */
  readonly nonce: Uint8Array | undefined;
  readonly log: (line: string) => void;
  /** Send, if there is a link; else what is owed is sent after the next one. */
  send(message: BotMessage["message"]): void;
  /**
   * Return the action table of an offer, if it has one and it is needed.
   *
   * @throws {ArenaError} if the server does not hand it out.
   */
  table(offer: MatchOffer): Promise<Table | undefined>;
  /** Hear what has arrived while the bot was busy. */
  listen(): void;
  /** Forget a seat that was not taken. */
  drop(seat: Seat): void;
  /** Stop the client because of an error. */
  fail(error: ArenaError): void;
}

/** One seat of a match, from the offer to the end. */
export class Seat {
  readonly info: MatchInfo;
  readonly key: string;
  /** Settles when there is nothing left to do. */
  readonly task: Promise<void>;
  outcome: Outcome | undefined;
  readonly #host: Host;
  readonly #bot: Bot;
  readonly #offer: MatchOffer;
  /** What was sent; undefined where an earlier program may have sent another. */
  readonly #nonce: Uint8Array | undefined;
  #table: Table | undefined;
  #news: WireEvent[] = [];
  #lastEvent = 0;
  #lastClosed: number | undefined;
  #accepted = false;
  #ready = false;
  #abandoned = false;
  /** Requests for the task that plays. */
  readonly #mail: { request: DecisionRequest; atMs: number }[] = [];
  #bell: (() => void) | undefined;
  #ask: Ask | undefined;
  #answered: { id: number; message: BotMessage["message"] } | undefined;

  /**
   * @throws {ProtocolError} if the offer makes no sense.
   */
  constructor(host: Host, bot: Bot, offer: MatchOffer) {
    this.#host = host;
    this.#bot = bot;
    this.#offer = offer;
    this.info = reading.matchInfo(offer, host.encoding);
    this.key = keyOf(offer.matchId, offer.seat);
    if (!offer.nonceWanted) this.#nonce = new Uint8Array();
    else if (!offer.resumed) this.#nonce = host.nonce ?? randomBytes(NONCE_BYTES);
    this.task = this.#play();
  }

  /** Return what has arrived so far. */
  ack(ended = false): Ack {
    const { matchId, seat } = this.info;
    const closedDecisionId = this.#lastClosed;
    return { matchId, seat, eventNumber: this.#lastEvent, closedDecisionId, ended };
  }

  // ----------------------------------------------------------- what the server says

  /** Answer an offer again that was answered before. */
  offeredAgain(): void {
    if (this.#accepted) this.#sayAccept();
    if (this.#ready) this.#sayReady();
  }

  /** Send again what the server seems not to have heard. */
  status(status: MatchStatus): void {
    if (status.phase === MatchPhase.MATCH_PHASE_OFFERED) this.offeredAgain();
    else if (status.phase === MatchPhase.MATCH_PHASE_PREPARING && this.#ready) this.#sayReady();
  }

  /** Keep an event for the next ask; those sent again are known. */
  happened(event: WireEvent): void {
    if (event.number <= this.#lastEvent) return;
    this.#lastEvent = event.number;
    this.#news.push(event);
  }

  /** Take a request; one that is sent again is answered again. */
  asked(request: DecisionRequest, atMs: number): void {
    const id = request.decisionId;
    if (this.#answered && this.#answered.id >= id) {
      if (this.#answered.id === id) this.#host.send(this.#answered.message);
      return;
    }
    const newest = this.#mail.at(-1)?.request.decisionId ?? this.#ask?.decisionId;
    if (newest !== undefined && newest >= id) return;
    this.#mail.push({ request, atMs });
    this.#ring();
  }

  /** Tell the bot that its answer is no longer waited for. */
  closed({ decisionId }: DecisionClosed): void {
    this.#lastClosed = Math.max(this.#lastClosed ?? 0, decisionId);
    while ((this.#mail[0]?.request.decisionId ?? Infinity) <= decisionId) this.#mail.shift();
    if (this.#ask && this.#ask.decisionId <= decisionId) this.#ask.close();
  }

  /** End the match: the bot is told as soon as it is back from `decide`. */
  end(result: MatchResult | undefined): Outcome {
    const { options } = this.#offer;
    const msgpack = options.length ? this.#host.encoding.msgpackOf(options) : NO_OPTIONS;
    const deal = checkDeal(this.#offer, msgpack, this.#nonce, result?.reveal);
    return this.#end(reading.outcome(result, this.info.seat, deal));
  }

  /** End a match of which the server knows no more. */
  forget(code: string, message: string): Outcome {
    return this.#end(reading.forgotten(this.info.seat, code, message));
  }

  #end(outcome: Outcome): Outcome {
    this.outcome = outcome;
    this.#mail.length = 0;
    this.#ask?.close();
    this.#ring();
    return outcome;
  }

  /** Let the bot know that nobody waits for its answer; the end itself comes later. */
  release(): void {
    this.#ask?.close();
  }

  /** Stop at once; the bot is not told. */
  abandon(): void {
    this.#abandoned = true;
    this.#mail.length = 0;
    this.#ask?.close();
    this.#ring();
  }

  #ring(): void {
    this.#bell?.();
    this.#bell = undefined;
  }

  // ----------------------------------------------------------------- what is played

  async #play(): Promise<void> {
    try {
      // The client enters the seat first.
      await undefined;
      if (await this.#take()) await this.#answerAll();
    } catch (error) {
      if (error instanceof ArenaError) this.#host.fail(error);
      else {
        const message = `the client failed: ${sentenceOf(error)}`;
        this.#host.fail(new ArenaError(message, { code: "internal", cause: error }));
      }
    }
  }

  /** Accept and prepare; return whether there is a match to play. */
  async #take(): Promise<boolean> {
    try {
      this.#table = await this.#fetchTable();
      await this.#call("offered", () => this.#bot.offered?.(this.info));
    } catch (error) {
      if (this.#abandoned) return false;
      if (error instanceof LinkError) {
        // The server offers the seat again when the link is back.
        this.#host.drop(this);
        return false;
      }
      if (error instanceof BotError || !(error instanceof ArenaError)) throw error;
      if (!(error instanceof Declined)) {
        this.#host.log(`match ${this.info.matchId} is declined: ${error}`);
      }
      this.#host.send(decline(this.info, error));
      this.#host.drop(this);
      return false;
    }
    if (this.#abandoned) return false;
    this.#accepted = true;
    this.#sayAccept();
    if (!this.outcome) await this.#call("start", () => this.#bot.start?.(this.info));
    if (this.#abandoned) return false;
    this.#ready = true;
    this.#sayReady();
    return true;
  }

  async #fetchTable(): Promise<Table | undefined> {
    if (this.#bot.needsTable === false) return undefined;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#host.table(this.#offer);
      } catch (error) {
        if (!(error instanceof LinkError) || attempt === TRIES || this.#abandoned) throw error;
        await new Promise((resolve) => setTimeout(resolve, BETWEEN_MS));
      }
    }
  }

  async #answerAll(): Promise<void> {
    while (!this.#abandoned) {
      const next = this.#mail.shift();
      if (next) await this.#decide(next.request, next.atMs);
      else if (this.outcome) break;
      else await new Promise<void>((resolve) => (this.#bell = resolve));
    }
    const { outcome } = this;
    if (!outcome || this.#abandoned) return;
    try {
      await this.#call("end", () => this.#bot.end?.(outcome));
    } catch (error) {
      // The match is over: this can hurt nobody any more.
      this.#host.log(`match ${this.info.matchId}: ${told(error)}`);
    }
  }

  async #decide(request: DecisionRequest, arrivedMs: number): Promise<void> {
    const { info } = this;
    const news = this.#news;
    this.#news = [];
    const { encoding } = this.#host;
    const listen = () => this.#host.listen();
    const ask = new Ask({ info, request, arrivedMs, news, encoding, table: this.#table, listen });
    this.#ask = ask;
    const startedMs = nowMs();
    try {
      let decided: unknown;
      try {
        decided = await this.#bot.decide(ask);
      } catch (error) {
        throw botError("decide", error);
      }
      if (!ask.wasClosed) this.#answer(request, decided, startedMs);
    } catch (error) {
      if (ask.wasClosed) {
        if (!this.#abandoned) this.#host.log(`match ${info.matchId}: ${told(error)}`);
      } else if (this.#host.resigns && error instanceof BotError) {
        this.#host.log(`match ${info.matchId} is resigned: ${told(error)}`);
        this.#answer(request, RESIGN, startedMs);
      } else throw error;
    } finally {
      this.#ask = undefined;
    }
  }

  /**
   * @throws {DecisionError} if `decide` returned something that is no decision.
   */
  #answer(request: DecisionRequest, decided: unknown, startedMs: number): void {
    const { encoding, limits } = this.#host;
    const { message } = messageOf(decided, request, encoding, limits, nowMs() - startedMs);
    this.#answered = { id: request.decisionId, message };
    this.#host.send(message);
  }

  /**
   * Call a method of the bot.
   *
   * @throws {ArenaError} a `BotError`, unless the bot threw one of its own.
   */
  async #call(method: string, call: () => void | Promise<void>): Promise<void> {
    try {
      await call();
    } catch (error) {
      throw botError(method, error);
    }
  }

  // ------------------------------------------------------------------- what is said

  #sayAccept(): void {
    const { matchId, seat } = this.info;
    const nonce = this.#nonce ?? new Uint8Array();
    this.#host.send({ $case: "accept", accept: { matchId, seat, nonce } });
  }

  #sayReady(): void {
    const { matchId, seat } = this.info;
    this.#host.send({ $case: "ready", ready: { matchId, seat } });
  }
}

/** Return the message that refuses a seat, with the code of an error. */
export function decline(
  { matchId, seat }: { matchId: string; seat: number },
  { code, message }: ArenaError,
): BotMessage["message"] {
  const cut = [...message].slice(0, 500).join("");
  return { $case: "decline", decline: { matchId, seat, code, message: cut } };
}

/** Return what tells a seat of a match from all others. */
export function keyOf(matchId: string, seat: number | undefined): string {
  return `${matchId}#${seat ?? 0}`;
}

function botError(method: string, error: unknown): ArenaError {
  if (error instanceof ArenaError) return error;
  const how = `${method}() threw ${error instanceof Error ? error.name : "no Error"}`;
  return new BotError(shown(`${method}() threw ${sentenceOf(error)}`), {
    cause: error,
    how: shown(how),
  });
}

/** Return an error with the place in the bot's code where it arose, for the log. */
export function told(error: unknown): string {
  if (error instanceof DecisionError || !(error instanceof ArenaError)) return String(error);
  const { cause } = error;
  return cause instanceof Error && cause.stack ? `${error}\n${cause.stack}` : String(error);
}
