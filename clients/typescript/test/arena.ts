/** A server that says what a test wants it to say, garbage included. */

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerUnaryCall,
  status as Status,
  type sendUnaryData,
} from "@grpc/grpc-js";
import {
  type AnyBot,
  type Ask,
  Client,
  type GameTypes,
  RESIGN,
  type Settings,
} from "fritillary-client";
import { catalog, common, bot as wire } from "fritillary-client/wire";
import { MSGPACK } from "../src/encoding.js";

export const TOKEN = "frt_bot_test";
export const TABLE_HASH = new Uint8Array(32).fill(7);
export const TEXTS = ["pass", "left", "right"];
/** However busy the machine is. */
const WITHIN_MS = 60_000;

type Body<M extends { $case: string }, K extends M["$case"]> = Extract<M, { $case: K }>;
type FromBot = NonNullable<wire.BotMessage["message"]>;
type FromServer = NonNullable<wire.ServerMessage["message"]>;
type Raw = ServerDuplexStream<Buffer, Buffer>;

/** Take the first legal action. */
export const first = (ask: Ask) => ask.legal[0] ?? RESIGN;

const asIs = (raw: Buffer) => raw;

/** Return what is waited for, or fail. */
export async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took too long`)), WITHIN_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** A list that can be waited for. */
export class Mailbox<T> {
  readonly #items: T[] = [];
  #waiting: ((item: T) => void)[] = [];

  put(item: T): void {
    const first = this.#waiting.shift();
    if (first) first(item);
    else this.#items.push(item);
  }

  get size(): number {
    return this.#items.length;
  }

  async next(what: string): Promise<T> {
    const item = this.#items.shift();
    if (item !== undefined) return item;
    return await within(new Promise<T>((resolve) => this.#waiting.push(resolve)), what);
  }
}

/** One stream of the bot, played by the test. */
export class Stream {
  readonly received = new Mailbox<FromBot | undefined>();
  readonly frames: wire.ConnectRequest[] = [];
  readonly token: string;
  readonly #call: Raw;

  constructor(call: Raw) {
    this.#call = call;
    this.token = String(call.metadata.get("authorization")[0] ?? "");
    call.on("data", (raw: Buffer) => {
      const frame = wire.ConnectRequest.decode(raw);
      this.frames.push(frame);
      for (const { message } of frame.messages) if (message) this.received.put(message);
    });
    call.on("end", () => {
      this.received.put(undefined);
      call.end();
    });
    call.on("error", () => {});
  }

  raw(frame: Uint8Array): void {
    this.#call.write(Buffer.from(frame));
  }

  /** Send messages in one frame. */
  send(...messages: FromServer[]): void {
    const frame = { messages: messages.map((message) => ({ message })) };
    this.raw(wire.ConnectResponse.encode(frame).finish());
  }

  end(): void {
    this.#call.end();
  }

  /** End the stream with a status other than OK. */
  abort(code: Status, details: string, error?: common.ErrorInfo): void {
    const metadata = new Metadata();
    if (error) {
      const word = common.ErrorInfo.encode(error).finish();
      metadata.set("fritillary-error-bin", Buffer.from(word));
    }
    this.#call.emit("error", { code, details, metadata });
  }

  /** Return the next message, which must be of that kind. */
  async expect<K extends FromBot["$case"]>(kind: K): Promise<Body<FromBot, K>> {
    const message = await this.received.next(kind);
    assert.equal(message?.$case, kind);
    return message as Body<FromBot, K>;
  }

  /** Return the next message of that kind; others are passed over. */
  async find<K extends FromBot["$case"]>(kind: K): Promise<Body<FromBot, K>> {
    for (;;) {
      const message = await this.received.next(kind);
      assert.ok(message, `the stream ended before ${kind}`);
      if (message.$case === kind) return message as Body<FromBot, K>;
    }
  }

  /** Wait until the bot has closed its half. */
  async ended(): Promise<void> {
    while ((await this.received.next("the end")) !== undefined);
  }

  /** Hear Hello and say Welcome. */
  async welcome(about: Partial<wire.Welcome> = {}): Promise<wire.Hello> {
    const { hello } = await this.expect("hello");
    this.send({ $case: "welcome", welcome: welcome({ encoding: hello.encoding, ...about }) });
    return hello;
  }

  /** Offer a seat and hear that it is taken. */
  async seat(about: Partial<wire.MatchOffer> = {}): Promise<wire.Accept> {
    this.send({ $case: "matchOffer", matchOffer: offer(about) });
    const { accept } = await this.find("accept");
    await this.find("ready");
    return accept;
  }

  /** Ask, and return the decision. */
  async ask(about: Partial<wire.DecisionRequest> = {}): Promise<wire.Decision> {
    this.send({ $case: "decisionRequest", decisionRequest: request(about) });
    return (await this.find("decision")).decision;
  }

  /** Tell the end of a match and hear that it was heard. */
  async finish(about: Partial<common.MatchResult> = {}, matchId = "m"): Promise<wire.Ack> {
    this.send({ $case: "matchEnded", matchEnded: { matchId, seat: 0, result: result(about) } });
    for (;;) {
      const { ack } = await this.find("ack");
      if (ack.ended) return ack;
    }
  }
}

/** A server with the streams that were opened. */
export class FakeArena {
  readonly streams = new Mailbox<Stream>();
  readonly pages: catalog.ListActionsRequest[] = [];
  /** Answers a request for a page of the action table. */
  list: (request: catalog.ListActionsRequest) => catalog.ListActionsResponse = pageOf;
  address = "";
  #server = new Server();
  readonly #calls = new Set<Raw>();
  readonly clients: { client: Client<GameTypes>; over: Promise<void> }[] = [];

  /** Listen on a free port, or on that of before. */
  async start(): Promise<this> {
    const server = new Server();
    this.#server = server;
    const { methods, fullName } = wire.BotServiceDefinition;
    const plain = { requestSerialize: asIs, requestDeserialize: asIs };
    const back = { responseSerialize: asIs, responseDeserialize: asIs };
    const { methods: listing, fullName: catalogName } = catalog.CatalogServiceDefinition;
    server.addService(
      {
        connect: {
          path: `/${fullName}/${methods.connect.name}`,
          requestStream: true,
          responseStream: true,
          ...plain,
          ...back,
        },
        listActions: {
          path: `/${catalogName}/${listing.listActions.name}`,
          requestStream: false,
          responseStream: false,
          ...plain,
          ...back,
        },
      },
      {
        connect: (call: Raw) => {
          this.#calls.add(call);
          this.streams.put(new Stream(call));
        },
        listActions: (call: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) => {
          const asked = catalog.ListActionsRequest.decode(call.request);
          this.pages.push(asked);
          try {
            answer(
              null,
              Buffer.from(catalog.ListActionsResponse.encode(this.list(asked)).finish()),
            );
          } catch (error) {
            answer({ code: Status.UNAVAILABLE, details: String(error) });
          }
        },
      },
    );
    const where = this.address || "127.0.0.1:0";
    const port = await new Promise<number>((resolve, reject) => {
      const insecure = ServerCredentials.createInsecure();
      server.bindAsync(where, insecure, (error, bound) => (error ? reject(error) : resolve(bound)));
    });
    this.address = `127.0.0.1:${port}`;
    return this;
  }

  /** Cut all links, as a server that is killed does. */
  cut(): void {
    this.#server.forceShutdown();
    this.#calls.clear();
  }

  /** Return a client that dials in here. */
  connect<G extends GameTypes>(
    bot: AnyBot<G>,
    settings: Settings = {},
  ): { client: Client<G>; over: Promise<void> } {
    const client = new Client(bot, { address: this.address, token: TOKEN, ...settings });
    const over = client.run();
    // A test that does not look at it means that it does not matter.
    over.catch(() => {});
    const made = { client, over };
    this.clients.push(made as unknown as (typeof this.clients)[number]);
    return made;
  }

  async stream(): Promise<Stream> {
    return await this.streams.next("a stream");
  }

  async stop(): Promise<void> {
    for (const { client } of this.clients) client.stop();
    this.cut();
    await Promise.allSettled(this.clients.map(({ over }) => over));
  }
}

/** Run a test with an arena that is stopped whatever happens. */
export async function withArena(play: (arena: FakeArena) => Promise<void>): Promise<void> {
  const arena = await new FakeArena().start();
  try {
    await play(arena);
  } finally {
    await arena.stop();
  }
}

export function welcome(about: Partial<wire.Welcome> = {}): wire.Welcome {
  return {
    sessionToken: "session",
    resumed: false,
    botName: "test-bot",
    features: [],
    encoding: common.Encoding.ENCODING_MSGPACK,
    legalForm: wire.LegalForm.LEGAL_FORM_PACKED,
    capacity: 1,
    limits: limits(),
    serverVersion: "9.9",
    ...about,
  };
}

export function limits(about: Partial<wire.Limits> = {}): wire.Limits {
  return {
    maxMessageBytes: 4096,
    maxMessagesPerSecond: 1000,
    maxOutstandingBytes: 1 << 20,
    maxMatches: 64,
    maxNoteBytes: 20,
    keepalive: undefined,
    maxStreams: 8,
    ...about,
  };
}

export function offer(about: Partial<wire.MatchOffer> = {}): wire.MatchOffer {
  const clock = { moveMs: 5000 };
  return {
    matchId: "m",
    seat: 0,
    game: { id: "toy", rulesVersion: 3, variants: [{ id: "small", version: 2 }] },
    table: { size: TEXTS.length, hash: TABLE_HASH },
    schemasHash: new Uint8Array(32),
    options: MSGPACK.encode({ width: 3 }),
    seats: [
      { seat: 0, role: "white", player: undefined, clock },
      {
        seat: 1,
        role: "black",
        player: { name: "b", version: "1", build: "", author: "c" },
        clock,
      },
    ],
    terms: { policy: undefined, marginMs: 50, ceilingMs: 60_000 },
    commitment: undefined,
    nonceWanted: false,
    botSeed: 2 ** 53 - 1,
    answerWithinMs: 10_000,
    resumed: false,
    ...about,
  };
}

export function request(about: Partial<wire.DecisionRequest> = {}): wire.DecisionRequest {
  return {
    matchId: "m",
    seat: 0,
    decisionId: 1,
    eventNumber: 0,
    ply: 0,
    observation: MSGPACK.encode({ seen: [1, null] }),
    legal: [0, 2],
    legalActions: [],
    clock: { leftMs: 5000, moveLeftMs: 5000 },
    attempt: 1,
    error: undefined,
    ...about,
  };
}

export function acted(number: number, about: Partial<wire.ActionTaken> = {}): FromServer {
  const action = { seat: 1, index: 1, action: actionOf("left"), text: "left", source: 1, ...about };
  const event = {
    matchId: "m",
    seat: 0,
    number,
    ply: number,
    body: { $case: "action" as const, action },
  };
  return { $case: "event", event };
}

export function closed(decisionId: number): FromServer {
  const time = undefined;
  const closure = wire.DecisionClosure.DECISION_CLOSURE_ACCEPTED;
  const decisionClosed = { matchId: "m", seat: 0, decisionId, closure, eventNumber: decisionId };
  return {
    $case: "decisionClosed",
    decisionClosed: { ...decisionClosed, error: undefined, time, clock: undefined },
  };
}

export function result(about: Partial<common.MatchResult> = {}): common.MatchResult {
  return {
    kind: common.MatchEndKind.MATCH_END_KIND_PLAYED,
    code: "",
    message: "",
    outcome: { reason: "done", scores: [-3, 3], placing: [2, 1] },
    finalHash: new Uint8Array(),
    reveal: undefined,
    ...about,
  };
}

export function goodbye(code: string, reconnectAfterMs?: number): FromServer {
  return { $case: "goodbye", goodbye: { code, message: "so long", reconnectAfterMs } };
}

export function actionOf(text: string): Uint8Array {
  return MSGPACK.encode({ type: text });
}

/** Return the action table, two entries a page. */
function pageOf({ pageToken }: catalog.ListActionsRequest): catalog.ListActionsResponse {
  const from = Number(pageToken || 0);
  const actions = TEXTS.map((text, index) => ({
    index,
    text,
    msgpack: actionOf(text),
    json: JSON.stringify({ type: text }),
  })).slice(from, from + 2);
  const nextPageToken = from + 2 < TEXTS.length ? String(from + 2) : "";
  return { actions, nextPageToken, table: { size: TEXTS.length, hash: TABLE_HASH } };
}

export function sha256(text: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(text).digest());
}
