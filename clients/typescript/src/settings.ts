/** What can be said about a bot and its connection, and what follows from it. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { type AnyBot, type BotSource, sourceOf } from "./bot.js";
import { type Encoding, named } from "./encoding.js";
import { type Endpoint, type EndpointSettings, endpointOf } from "./endpoint.js";
import { ConfigurationError, Declined } from "./errors.js";
import {
  LegalForm,
  type MatchOffer,
  type GameSupport as WireSupport,
} from "./gen/fritillary/api/v1/bot.js";
import type { GameRef, PlayerInfo } from "./gen/fritillary/api/v1/common.js";
import { fullId } from "./reading.js";
import { shown } from "./text.js";
import type { GameSupport } from "./values.js";

const FORMS = { packed: LegalForm.LEGAL_FORM_PACKED, expanded: LegalForm.LEGAL_FORM_EXPANDED };

/** What can be said about a bot and its connection. */
export interface Settings extends EndpointSettings {
  /** To show; default the name of the bot's class or program. */
  name?: string | undefined;
  /** To show. */
  version?: string | undefined;
  /** To show. */
  author?: string | undefined;
  /** What tells two builds of the bot apart; default a hash of the program's file. */
  build?: string | undefined;
  /**
   * That it can play: ids (with `+variant` where wanted) or `GameSupport`; default those
   * that the bot itself names, else any. Others are declined.
   */
  games?: readonly (string | GameSupport)[] | undefined;
  /** Most matches at a time; default 1. */
  capacity?: number | undefined;
  /** Default `msgpack`. */
  encoding?: "msgpack" | "json" | undefined;
  /**
   * `packed` (default): legal actions as indices, looked up in the action table, which is
   * fetched once; or `expanded`: written out in each request.
   */
  legal?: "packed" | "expanded" | undefined;
  /**
   * Leave after so many; default: stay. With a capacity above 1 a few more may be played,
   * since a seat that was offered is not refused.
   */
  matches?: number | undefined;
  /** Keep trying for so long if no server answers at the start, in ms; default 0. */
  waitMs?: number | undefined;
  /** Keep trying for so long after a lost link, in ms; default 60000. */
  giveUpAfterMs?: number | undefined;
  /**
   * What to do when the bot throws or answers nonsense: `stop` (default) says goodbye and
   * throws the error; `resign` gives up the match and plays on in the others.
   */
  onError?: "stop" | "resign" | undefined;
  /** Mixed into deals that want one, at most 32 bytes; default: 16 random ones a match. */
  nonce?: Uint8Array | undefined;
  /**
   * Whether `decide` answers within microseconds. The link then has no thread of its own
   * and is quicker; a bot that thinks long would let it starve.
   */
  light?: boolean | undefined;
  /** Told what happens, a line at a time; default for `Client`: nothing is told. */
  log?: ((line: string) => void) | undefined;
}

/** Settings, checked and with the defaults filled in. */
export interface Setup {
  readonly endpoint: Endpoint;
  readonly source: BotSource;
  readonly info: PlayerInfo;
  readonly games: WireSupport[];
  readonly capacity: number;
  readonly encoding: Encoding;
  readonly legalForm: LegalForm;
  readonly matches: number | undefined;
  readonly waitMs: number;
  readonly giveUpAfterMs: number;
  readonly resigns: boolean;
  readonly nonce: Uint8Array | undefined;
  readonly light: boolean;
  readonly log: (line: string) => void;
}

/**
 * Check settings and fill in the defaults.
 *
 * @throws {ConfigurationError} naming what is wrong, and the mend.
 */
export function resolve(bot: AnyBot, settings: Settings): Setup {
  const source = sourceOf(bot);
  const endpoint = endpointOf(settings);
  const { capacity = 1, matches, legal = "packed", onError = "stop", nonce } = settings;
  const { waitMs = 0, giveUpAfterMs = 60_000 } = settings;
  if (!isCount(capacity) || (matches !== undefined && !isCount(matches))) {
    throw wrong("capacity and matches must be whole numbers of at least 1", "usage.capacity");
  }
  if (!Object.hasOwn(FORMS, legal)) {
    throw wrong(`no legal form '${legal}'; say packed or expanded`, "usage.legal");
  }
  if (onError !== "stop" && onError !== "resign") {
    throw wrong(`onError is stop or resign, not '${onError}'`, "usage.on-error");
  }
  if (nonce !== undefined && !(nonce instanceof Uint8Array && nonce.length <= 32)) {
    throw wrong("nonce must be a Uint8Array of at most 32 bytes", "usage.nonce");
  }
  if (!(waitMs >= 0 && giveUpAfterMs >= 0)) {
    throw wrong("waitMs and giveUpAfterMs must be numbers of at least 0", "usage.patience");
  }
  const info = {
    name: cut(settings.name || source.name || programName(), 64),
    version: cut(String(settings.version ?? ""), 64),
    build: cut(settings.build || programHash(), 128),
    author: cut(settings.author ?? "", 128),
  };
  return {
    endpoint,
    source,
    info,
    games: (settings.games ?? source.games ?? []).map(supportOf),
    capacity,
    encoding: named(settings.encoding ?? "msgpack"),
    legalForm: FORMS[legal],
    matches,
    waitMs,
    giveUpAfterMs,
    resigns: onError === "resign",
    nonce,
    light: settings.light ?? false,
    log: settings.log ?? (() => {}),
  };
}

/** Return why an offer is declined whose game is none of those that Hello has announced. */
export function refusalOf(
  announced: readonly WireSupport[],
  offer: MatchOffer,
): Declined | undefined {
  const { game } = offer;
  if (announced.length === 0 || (game && announced.some((each) => covers(each, game)))) {
    return undefined;
  }
  const what = `${fullId(offer)} in version ${game?.rulesVersion ?? 0} of its rules`;
  return new Declined(shown(`the bot has not announced ${what}`), { code: "game.not-announced" });
}

function covers(support: WireSupport, game: GameRef): boolean {
  const { rulesVersions, variants } = support;
  return (
    plainId(support.game) === plainId(game.id) &&
    (rulesVersions.length === 0 || rulesVersions.includes(game.rulesVersion)) &&
    (support.anyVariant || game.variants.every(({ id }) => variants.includes(id)))
  );
}

/** Return the id of a game without the distribution that it comes from. */
function plainId(id: string): string {
  return id.slice(id.lastIndexOf(":") + 1);
}

function isCount(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number < 2 ** 32;
}

function wrong(message: string, code: string): ConfigurationError {
  return new ConfigurationError(message, { code });
}

function cut(text: string, most: number): string {
  return [...text].slice(0, most).join("");
}

function supportOf(game: string | GameSupport): WireSupport {
  if (typeof game === "string") {
    const [id = "", ...variants] = game.split("+");
    return { game: id, rulesVersions: [], variants, anyVariant: false };
  }
  return {
    game: game.game,
    rulesVersions: [...(game.rulesVersions ?? [])],
    variants: [...(game.variants ?? [])],
    anyVariant: game.anyVariant ?? false,
  };
}

function programName(): string {
  const path = process.argv[1] ?? "";
  return basename(path, extname(path)) || "bot";
}

/** Return a hash of the file of the program, empty without one. */
function programHash(): string {
  try {
    const file = readFileSync(process.argv[1] ?? "");
    return createHash("sha256").update(file).digest("hex").slice(0, 16);
  } catch {
    return "";
  }
}
