/** What a bot is, and the forms in which one can be given. */

import type { Answer } from "./answers.js";
import type { Ask } from "./ask.js";
import { ConfigurationError } from "./errors.js";
import type { AnyGame, GameSupport, GameTypes, MatchInfo, Outcome } from "./values.js";

/**
 * A bot. Each method may be async; of one match they are called one after the other.
 *
 * Given as a class, each match and seat has an instance of its own; given as an object, all
 * matches share it.
 */
export interface Bot<G extends GameTypes = AnyGame> {
  /** What it can play, unless the client is told otherwise; undefined: any game. */
  readonly games?: readonly (string | GameSupport)[];
  /**
   * Whether the action table of a game is fetched before its first match; default true.
   * Without it, and unless they are written out, only `ask.legalIndices` is there.
   */
  readonly needsTable?: boolean;
  /**
   * Look at a match before its seat is taken; the answer is due within seconds.
   *
   * @throws {Declined} to refuse. The referee rules on a refusal as on a fault.
   */
  offered?(info: MatchInfo<G>): void | Promise<void>;
  /** Prepare for a match. It begins when all seats have done so. */
  start?(info: MatchInfo<G>): void | Promise<void>;
  /** Answer with one of `ask.legal`, its index, text or action, or `RESIGN`. */
  decide(ask: Ask<G>): Answer<G> | Promise<Answer<G>>;
  /** Hear how the match ended. */
  end?(outcome: Outcome): void | Promise<void>;
}

/** A function that decides. */
export type Decide<G extends GameTypes = AnyGame> = (ask: Ask<G>) => Answer<G> | Promise<Answer<G>>;

/** A class that is made without arguments. */
export type BotClass<G extends GameTypes = AnyGame> = new () => Bot<G>;

/** The forms in which a bot can be given: a function that decides, a class, an object. */
export type AnyBot<G extends GameTypes = AnyGame> = Decide<G> | BotClass<G> | Bot<G>;

/** What makes a bot for one match and seat, with what is known of it before. */
export interface BotSource {
  make(): Bot;
  /** Of the bot's class; empty without one. */
  readonly name: string;
  readonly games: readonly (string | GameSupport)[] | undefined;
}

/**
 * Return what makes a bot for one match and seat.
 *
 * @throws {ConfigurationError} if it is none of the forms of `AnyBot`.
 */
export function sourceOf(bot: AnyBot): BotSource {
  if (!isClass(bot)) {
    const shared = typeof bot === "function" ? { decide: bot as Decide } : checked(bot);
    const { name } = shared.constructor;
    return { make: () => shared, name: name === "Object" ? "" : name, games: shared.games };
  }
  // What it can play is told before it has a match: by the instance that gets the first.
  let first: Bot | undefined = checked(new bot());
  const { games } = first;
  const make = () => {
    const made = first ?? new bot();
    first = undefined;
    return made;
  };
  return { make, name: bot.name, games };
}

function checked(bot: Bot): Bot {
  if (typeof bot?.decide === "function") return bot;
  const message =
    "that is no bot; give a function that decides, or a class or an object with decide()";
  throw new ConfigurationError(message, { code: "usage.bot" });
}

function isClass(bot: AnyBot): bot is BotClass {
  return typeof bot === "function" && /^class\b/.test(Function.prototype.toString.call(bot));
}
