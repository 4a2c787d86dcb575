/** What a bot is told: plain values. */

import type { Deal } from "./dealing.js";
import type { ClockReading, Clock as ClockSettings } from "./gen/fritillary/api/v1/common.js";
import type { Data } from "./msgpack.js";

/** What is left to the seat when it was asked, in milliseconds; undefined: no such limit. */
export type Clock = Readonly<ClockReading>;

export type { ClockSettings };

/**
 * The types of one game. A bot for one game may name those that it reads, as in
 * `Bot<{ observation: Observation; action: Action; options: Options }>`; nothing checks
 * them against what arrives. The JSON Schemas of the game say what does.
 */
export interface GameTypes {
  observation: unknown;
  action: unknown;
  options: unknown;
}

/** Any game: plain data. */
export interface AnyGame extends GameTypes {
  observation: Data;
  action: Data;
  options: Data;
}

/** A game that a bot can play. */
export interface GameSupport {
  /** Id of the game, without variants. */
  game: string;
  /** Versions of the rules that it knows; default: any. */
  rulesVersions?: readonly number[];
  /** Ids of the variants that it knows, in any combination. */
  variants?: readonly string[];
  /** Takes any variant. */
  anyVariant?: boolean;
}

/** Who sits where. */
export interface Player {
  readonly seat: number;
  /** The game's own name for the seat, such as `white`; may be empty. */
  readonly role: string;
  /** As the player calls itself; empty where the event keeps it secret. */
  readonly name: string;
  readonly version: string;
  readonly author: string;
  /** The time that the seat is given. */
  readonly clock: Readonly<ClockSettings>;
}

/** What a bot is told before a match. */
export interface MatchInfo<G extends GameTypes = AnyGame> {
  readonly matchId: string;
  /** Id of the game, without variants. */
  readonly game: string;
  /** Of the game with its variants, such as `lepidoptery+no-pass`. */
  readonly fullId: string;
  readonly rulesVersion: number;
  readonly variants: readonly { readonly id: string; readonly version: number }[];
  /** Where the bot sits, from 0. */
  readonly seat: number;
  /** How many seats there are. */
  readonly seats: number;
  /** Who sits at each, in seat order. */
  readonly players: readonly Player[];
  /** Of the game, complete. */
  readonly options: G["options"];
  /** A number below 2^53 of the bot's own; `ask.random` is seeded with it. */
  readonly seed: number;
  /** Entries of the action table; undefined if the game has none. */
  readonly tableSize: number | undefined;
  /** Identifies the table; undefined if there is none. */
  readonly tableHash: Uint8Array | undefined;
  /** Identifies the JSON Schemas of the game. */
  readonly schemasHash: Uint8Array;
  /** Added to every deadline to absorb the link. */
  readonly marginMs: number;
  /** For the whole match; undefined if not told. */
  readonly ceilingMs: number | undefined;
  /** Whether a nonce of the bot's may be mixed into the deal. */
  readonly nonceWanted: boolean;
  /**
   * Whether the seat had been taken before and the match goes on, as after a restart of
   * the server or of this program.
   */
  readonly resumed: boolean;
}

/** Why something was refused or ruled. */
export interface Problem {
  /** Stable dotted code. */
  readonly code: string;
  /** One sentence for people. */
  readonly message: string;
}

/** How a match ended, for one of its seats. */
export interface Outcome {
  /** Of the bot that is told. */
  readonly seat: number;
  /**
   * `played`, `forfeited`, `adjudicated`, `void`, `withdrawn`; or `unknown` if the link was
   * lost and the server has forgotten the match.
   */
  readonly kind: string;
  /** Why, unless it was played to its end, such as `fault.late`. */
  readonly code: string;
  /** The same, for people. */
  readonly message: string;
  /** The game's word for its end; empty if the match does not count. */
  readonly reason: string;
  /** By seat; empty if the match does not count. */
  readonly scores: readonly number[];
  /** By seat, 1 is best; empty if the match does not count. */
  readonly placing: readonly number[];
  /** The bot's own score; undefined if the match does not count. */
  readonly score: number | undefined;
  /** The bot's own place; undefined if the match does not count. */
  readonly place: number | undefined;
  /** Whether the host dealt as it promised. */
  readonly deal: Deal;
}

/** One thing that happened, as the bot's seat may see it. What does not apply is left out. */
export interface Event<G extends GameTypes = AnyGame> {
  /** In the seat's own sequence, from 1. */
  readonly number: number;
  /** Plies in the match up to and including this event. */
  readonly ply: number;
  /**
   * `action`, `chance`, `ruling`, `resigned`, `paused`, `resumed` or `ended`; `unknown` for
   * what later versions of the protocol add.
   */
  readonly kind: string;
  /** That acted, resigned or is at fault. */
  readonly seat?: number | undefined;
  /** Of the seat or of chance, as the bot's seat may see it. */
  readonly action?: G["action"];
  /** The same in the notation of the game. */
  readonly text?: string;
  /** The same in the action table; undefined if it is not there. */
  readonly index?: number | undefined;
  /** Whose choice an action was: `player`, `substitute`, `stand-in`. */
  readonly source?: string;
  /** Of a ruling, such as `late`. */
  readonly fault?: string;
  /** Of a ruling: `forfeit`, `retry`, `substitute` or `void`. */
  readonly consequence?: string;
  /** Of a ruling or an end. */
  readonly code?: string;
  /** Of a ruling, a pause or an end, for people. */
  readonly message?: string;
}
