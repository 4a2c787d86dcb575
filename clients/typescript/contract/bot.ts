/**
 * The bot of the contract suite: one JSON object as its only argument says what it does, and
 * one line of JSON on standard output tells each thing that happens.
 */

import { setTimeout as sleep } from "node:timers/promises";
import {
  type Answer,
  ArenaError,
  type Ask,
  type Bot,
  Client,
  ConfigurationError,
  Declined,
  type MatchInfo,
  type Outcome,
  RESIGN,
  type Settings,
} from "fritillary-client";

/** What the bot is told to do. All keys may be left out. */
interface Task {
  encoding?: "msgpack" | "json";
  legal?: "packed" | "expanded";
  /** In which form it answers. */
  answer?: "index" | "text" | "action";
  capacity?: number;
  matches?: number;
  games?: string[];
  name?: string;
  build?: string;
  /** In seconds. */
  give_up_after?: number;
  /** File of certificates to trust. */
  ca?: string;
  /** File of a certificate to show to the server. */
  cert?: string;
  /** File of its private key. */
  key?: string;
  /** In hex. */
  nonce?: string;
  /** Id of a game that it declines. */
  decline?: string;
  /** Ids of decisions that it answers with nonsense at the first asking. */
  illegal?: number[];
  /** For so long it sleeps before each answer. */
  delay_ms?: number;
  /** Id of a decision at which it gives up. */
  resign_at?: number;
}

function emit(event: string, about: object = {}): void {
  const hex = (_: string, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value;
  process.stdout.write(`${JSON.stringify({ event, ...about }, hex)}\n`);
}

function botFor(task: Task): new () => Bot {
  return class implements Bot {
    #about = { match_id: "", seat: 0 };

    offered({ matchId, seat, resumed, game, fullId, nonceWanted }: MatchInfo): void {
      this.#about = { match_id: matchId, seat };
      emit("offered", { ...this.#about, resumed, game: fullId, nonce_wanted: nonceWanted });
      if (game !== task.decline && fullId !== task.decline) return;
      throw new Declined("the contract says so", { code: "contract.declined" });
    }

    async decide(ask: Ask): Promise<Answer> {
      const { decisionId, ply, legal, attempt } = ask;
      emit("asked", {
        ...this.#about,
        decision_id: decisionId,
        ply,
        legal: legal.length,
        first: legal[0]?.text,
        observation: ask.observation,
        news: ask.events.map((event) => event.number),
        attempt,
      });
      // Where nobody waits any more, the answer does not matter.
      const { signal } = ask;
      if (task.delay_ms) await sleep(task.delay_ms, undefined, { signal }).catch(() => {});
      if (task.resign_at === decisionId) return RESIGN;
      if (attempt === 1 && task.illegal?.includes(decisionId)) return "no such action";
      const chosen = legal[(decisionId * 7 + ply) % legal.length];
      return chosen?.[task.answer ?? "index"] ?? RESIGN;
    }

    end({ kind, code, scores, placing, deal }: Outcome): void {
      emit("ended", { ...this.#about, kind, code, scores, placing, deal });
    }
  };
}

/** What the values of a task are. */
const TYPES: Record<keyof Task, (value: unknown) => boolean> = {
  encoding: isText,
  legal: isText,
  answer: isText,
  capacity: Number.isInteger,
  matches: Number.isInteger,
  games: Array.isArray,
  name: isText,
  build: isText,
  give_up_after: Number.isFinite,
  ca: isText,
  cert: isText,
  key: isText,
  nonce: isText,
  decline: isText,
  illegal: Array.isArray,
  delay_ms: Number.isInteger,
  resign_at: Number.isInteger,
};

function isText(value: unknown): boolean {
  return typeof value === "string";
}

function wrong(message: string, code: string): ConfigurationError {
  return new ConfigurationError(message, { code });
}

/** Return what the argument says; keys that are null count as left out. */
function taskOf(argument: string): Task {
  let given: unknown;
  try {
    given = JSON.parse(argument);
  } catch (error) {
    throw wrong(`the argument is no JSON: ${(error as Error).message}`, "usage.argument");
  }
  if (typeof given !== "object" || given === null || Array.isArray(given)) {
    throw wrong("the argument is no JSON object", "usage.argument");
  }
  const task = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== null));
  for (const [key, value] of Object.entries(task)) {
    if (TYPES[key as keyof Task]?.(value) !== false) continue;
    throw wrong(`${key} cannot be ${JSON.stringify(value)}`, "usage.argument");
  }
  if (!["index", "text", "action"].includes(task["answer"] ?? "index")) {
    const message = `no form of answers '${task["answer"]}'; say index, text or action`;
    throw wrong(message, "usage.answer");
  }
  return task;
}

function bytesOf(nonce: string): Uint8Array {
  if (/^([0-9a-f]{2})*$/i.test(nonce)) return Buffer.from(nonce, "hex");
  throw wrong(`nonce '${nonce}' is not hex`, "usage.nonce");
}

function settingsOf(task: Task): Settings {
  const { give_up_after, nonce } = task;
  return {
    encoding: task.encoding,
    legal: task.legal,
    capacity: task.capacity,
    matches: task.matches,
    games: task.games,
    name: task.name ?? "contract",
    build: task.build,
    giveUpAfterMs: give_up_after === undefined ? undefined : give_up_after * 1000,
    ca: task.ca,
    cert: task.cert,
    key: task.key,
    nonce: nonce === undefined ? undefined : bytesOf(nonce),
  };
}

async function run(): Promise<number> {
  try {
    const task = taskOf(process.argv[2] ?? "{}");
    const client = new Client(botFor(task), settingsOf(task));
    client.on("connected", ({ bot, resumed }) => emit("connected", { bot, resumed }));
    client.on("lost", ({ code }) => emit("lost", { code }));
    let pressed = 0;
    const interrupted = () => (pressed++ ? client.stop() : client.drain());
    process.on("SIGINT", interrupted).on("SIGTERM", interrupted);
    await client.run();
    if (client.abandoned > 0) {
      const count = client.abandoned;
      const message = `left ${count === 1 ? "1 match" : `${count} matches`} unfinished`;
      throw new ArenaError(message, { code: "bot.unfinished" });
    }
    emit("stopped");
    return 0;
  } catch (error) {
    const code = error instanceof ArenaError ? error.code : "internal";
    process.stderr.write(`error: ${(error as Error).message} [${code}]\n`);
    return 1;
  }
}

process.exit(await run());
