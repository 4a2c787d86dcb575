/** The question to a bot; what is costly is built when it is looked at. */

import { LegalAction } from "./answers.js";
import type { Encoding } from "./encoding.js";
import { ProtocolError } from "./errors.js";
import type { DecisionRequest, Event as WireEvent } from "./gen/fritillary/api/v1/bot.js";
import { Random } from "./random.js";
import { event } from "./reading.js";
import type { Table } from "./tables.js";
import { nowMs } from "./time.js";
import type { AnyGame, Clock, Event, GameTypes, MatchInfo, Problem } from "./values.js";

/** What an ask is made of. */
export interface AskParts {
  info: MatchInfo;
  request: DecisionRequest;
  /** When it arrived, by `nowMs`. */
  arrivedMs: number;
  news: readonly WireEvent[];
  encoding: Encoding;
  table: Table | undefined;
  /** Hears what has arrived meanwhile, for a bot that has not let go of the thread. */
  listen: () => void;
}

/** A seat has to decide. */
export class Ask<G extends GameTypes = AnyGame> {
  /** About the match: game, options, seats, players. */
  readonly info: MatchInfo<G>;
  /** Identifies the decision within match and seat; it grows from one to the next. */
  readonly decisionId: number;
  /** Plies played so far. */
  readonly ply: number;
  /** 1 for the first time of asking; more after a fault. */
  readonly attempt: number;
  /** What was wrong with the attempt before; undefined at the first. */
  readonly error: Problem | undefined;
  /** What was left when the server asked. */
  readonly clock: Clock;
  readonly #parts: AskParts;
  #closed = false;
  #abort: AbortController | undefined;
  #observation: { value: G["observation"] } | undefined;
  #legal: readonly LegalAction<G["action"]>[] | undefined;
  #events: readonly Event<G>[] | undefined;
  #random: Random | undefined;

  constructor(parts: AskParts) {
    const { request } = parts;
    this.#parts = parts;
    this.info = parts.info as MatchInfo<G>;
    this.decisionId = request.decisionId;
    this.ply = request.ply;
    this.attempt = request.attempt || 1;
    this.error = request.error && { code: request.error.code, message: request.error.message };
    this.clock = request.clock ?? {};
  }

  /** Where the bot sits. */
  get seat(): number {
    return this.info.seat;
  }

  /** Id of the game, without variants. */
  get game(): string {
    return this.info.game;
  }

  /** The options of the game, complete. */
  get options(): G["options"] {
    return this.info.options;
  }

  /**
   * All that the seat may know, without the options.
   *
   * @throws {ProtocolError} if the server sent garbage.
   */
  get observation(): G["observation"] {
    this.#observation ??= {
      value: this.#parts.encoding.decode(this.observationBytes, "an observation"),
    };
    return this.#observation.value;
  }

  /** The observation as it arrived, in the encoding of the session. */
  get observationBytes(): Uint8Array {
    return this.#parts.request.observation;
  }

  /** The indices of the legal actions, rising, never empty. */
  get legalIndices(): readonly number[] {
    return this.#parts.request.legal;
  }

  /**
   * The legal actions in order of their indices, never empty.
   *
   * @throws {ProtocolError} if the server sent garbage.
   */
  get legal(): readonly LegalAction<G["action"]>[] {
    this.#legal ??= this.#buildLegal() as readonly LegalAction<G["action"]>[];
    return this.#legal;
  }

  /**
   * What has happened since the bot was last asked, as its seat may see it. After a lost
   * link some may be missing; the observation never lacks anything.
   *
   * @throws {ProtocolError} if the server sent garbage.
   */
  get events(): readonly Event<G>[] {
    const { news, encoding } = this.#parts;
    this.#events ??= news.map((each) => event(each, encoding) as Event<G>);
    return this.#events;
  }

  /**
   * Random numbers that follow from the bot's seed and this decision: a bot that takes its
   * chances from here alone is reproducible, also after a restart.
   */
  get random(): Random {
    this.#random ??= new Random(this.info.seed, this.decisionId);
    return this.#random;
  }

  /**
   * Whether the server no longer waits for an answer. A bot that thinks long may look at it
   * from time to time, also without letting go of the thread, and return anything.
   */
  get closed(): boolean {
    if (!this.#closed) this.#parts.listen();
    return this.#closed;
  }

  /** The same as a signal, for bots that wait for something else. */
  get signal(): AbortSignal {
    if (!this.#abort) {
      this.#abort = new AbortController();
      if (this.#closed) this.#abort.abort();
    }
    return this.#abort.signal;
  }

  /** Return what is left now, by this computer's clock; undefined if untimed. */
  timeLeftMs(): number | undefined {
    const { leftMs } = this.clock;
    return leftMs === undefined ? undefined : leftMs - (nowMs() - this.#parts.arrivedMs);
  }

  /** Whether it was told that nobody waits any more. @internal */
  get wasClosed(): boolean {
    return this.#closed;
  }

  /** Let the bot know that nobody waits any more. @internal */
  close(): void {
    this.#closed = true;
    this.#abort?.abort();
  }

  #buildLegal(): readonly LegalAction[] {
    const { request, encoding, table } = this.#parts;
    const { legal, legalActions } = request;
    if (legalActions.length > 0) {
      if (legalActions.length !== legal.length) {
        const written = `${legalActions.length} of ${legal.length}`;
        throw new ProtocolError(`the server wrote out ${written} actions`);
      }
      return legalActions.map(
        ({ index, text, action }) =>
          new LegalAction(index, text, () => encoding.decode(action, "an action")),
      );
    }
    if (!table) {
      const message = "there is no action table in which to look up the legal actions";
      throw new ProtocolError(message, { code: "game.no-table" });
    }
    return legal.map((index) => table.at(index));
  }
}
