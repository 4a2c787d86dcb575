/** Running a bot as a program. */

import { parseArgs } from "node:util";
import type { AnyBot } from "./bot.js";
import { Client } from "./client.js";
import { ADDRESS, CERTIFICATE, KEY, ROOTS, TOKEN } from "./endpoint.js";
import { ArenaError } from "./errors.js";
import type { Settings } from "./settings.js";
import { sentenceOf } from "./text.js";
import type { AnyGame, GameTypes } from "./values.js";

const OPTIONS = {
  address: ["HOST:PORT", `of the server; default: $${ADDRESS}`],
  token: ["TOKEN", `of the bot; default: $${TOKEN}`],
  ca: ["FILE", `certificates to trust, PEM; default: $${ROOTS}`],
  cert: ["FILE", `certificate to show to the server, PEM; default: $${CERTIFICATE}`],
  key: ["FILE", `its private key, PEM; default: $${KEY}`],
  name: ["NAME", "to show"],
  capacity: ["N", "most matches at a time"],
  matches: ["N", "leave after so many"],
} as const;

/** The arguments make no sense. */
class UsageError extends Error {}

/**
 * Play until there is a reason to stop, and return how many matches have ended. The first
 * Ctrl-C or SIGTERM lets the matches in play come to their end, the second leaves at once.
 * What happens is told on standard error, unless `log` is set.
 *
 * @throws {ArenaError} of the kinds that `Client` and `Client.run` name.
 */
export async function run<G extends GameTypes = AnyGame>(
  bot: AnyBot<G>,
  settings: Settings = {},
): Promise<number> {
  return (await play(bot, settings)).ended;
}

/**
 * Run a bot as a program, with `--address`, `--token` and the like from the command line,
 * which win over the settings. The program ends with status 0 when there is nothing left
 * to play, 1 after any error, which is told in one line, or if matches were left
 * unfinished, and 2 if the arguments are wrong.
 */
export async function main<G extends GameTypes = AnyGame>(
  bot: AnyBot<G>,
  settings: Settings = {},
): Promise<void> {
  process.exit(await statusOf(bot, settings));
}

async function statusOf<G extends GameTypes>(bot: AnyBot<G>, settings: Settings): Promise<number> {
  try {
    const given = fromArguments(process.argv.slice(2));
    if (!given) return 0;
    const { abandoned } = await play(bot, { ...settings, ...given });
    if (abandoned > 0) {
      console.error(`left ${abandoned === 1 ? "1 match" : `${abandoned} matches`} unfinished`);
    }
    return abandoned > 0 ? 1 : 0;
  } catch (error) {
    if (error instanceof UsageError) {
      console.error(`error: ${error.message}`);
      return 2;
    }
    console.error(`error: ${error instanceof ArenaError ? error : sentenceOf(error)}`);
    return 1;
  }
}

async function play<G extends GameTypes>(bot: AnyBot<G>, settings: Settings): Promise<Client<G>> {
  const log = settings.log ?? ((line: string) => console.error(line));
  const client = new Client(bot, { ...settings, log });
  let pressed = 0;
  const interrupted = () => {
    pressed += 1;
    if (pressed > 1) return client.stop();
    log("stopping when the matches in play have ended; again to stop now");
    client.drain();
  };
  process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
  try {
    await client.run();
  } finally {
    process.off("SIGINT", interrupted).off("SIGTERM", interrupted);
  }
  return client;
}

/** Return what the command line says; undefined if it only asks for help. */
function fromArguments(args: string[]): Settings | undefined {
  const names = Object.keys(OPTIONS) as (keyof typeof OPTIONS)[];
  const options = Object.fromEntries(names.map((name) => [name, { type: "string" as const }]));
  let values: Record<string, unknown>;
  try {
    ({ values } = parseArgs({ args, options: { ...options, help: { type: "boolean" } } }));
  } catch (error) {
    throw new UsageError(sentenceOf(error).replace(/^\w+: /, ""));
  }
  if (values["help"]) {
    console.log("Plays matches at an arena.\n");
    for (const name of names) {
      const [value, help] = OPTIONS[name];
      console.log(`  ${`--${name} ${value}`.padEnd(22)} ${help}`);
    }
    return undefined;
  }
  const { capacity, matches, ...texts } = values as Partial<Record<string, string>>;
  return {
    ...(texts as Settings),
    ...(capacity !== undefined && { capacity: countOf("capacity", capacity) }),
    ...(matches !== undefined && { matches: countOf("matches", matches) }),
  };
}

function countOf(name: string, text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new UsageError(`--${name} takes a number of at least 1, not '${text}'`);
}
