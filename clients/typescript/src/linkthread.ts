/**
 * A link in a thread of its own, so that a bot which thinks for seconds on end does not keep
 * the stream from being read, pings from being answered and the connection from being kept.
 */

import {
  MessageChannel,
  type MessagePort,
  receiveMessageOnPort,
  Worker,
} from "node:worker_threads";
import type { Endpoint } from "./endpoint.js";
import { ArenaError, fromPlain, LinkError, type PlainError } from "./errors.js";
import { decodeFrame } from "./frames.js";
import type { Goodbye, ServerMessage } from "./gen/fritillary/api/v1/bot.js";
import type { AnyLink, Arrival } from "./link.js";
import { nowMs } from "./time.js";

/** What is sent within such a time travels together. */
const TOGETHER_MS = 2;

/** What the thread is told. `link` counts the links, so that late messages are known. */
export type ToThread =
  | { do: "open"; link: number; endpoint: Endpoint; hello: Uint8Array }
  | { do: "send"; link: number; entries: Uint8Array[] }
  | { do: "leave"; link: number; goodbye: Uint8Array }
  | { do: "call"; link: number; call: number; path: string; request: Uint8Array };

/** What the thread tells. */
export type FromThread =
  | { is: "frame"; link: number; raw: Uint8Array; atMs: number }
  | { is: "ended"; link: number; goodbye?: Goodbye | undefined; error?: PlainError }
  | { is: "answer"; link: number; call: number; raw?: Uint8Array; error?: PlainError };

/** The thread, which serves one link after the other. */
export class LinkThread {
  readonly #worker: Worker;
  readonly #port: MessagePort;
  #links = 0;
  #current: ThreadLink | undefined;
  #failure: ArenaError | undefined;
  /** Messages that were only glanced at. */
  #seen: FromThread[] = [];

  constructor() {
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    this.#worker = new Worker(new URL("./linkworker.js", import.meta.url), {
      name: "fritillary-link",
      workerData: port2,
      transferList: [port2],
      // Ctrl-C and the like are for the thread of the bot.
      stdin: false,
    });
    port1.on("message", (message: FromThread) => {
      this.#catchUp();
      this.#heard(message);
    });
    const lost = (why: string) => {
      this.#failure = new ArenaError(`the thread of the link ended: ${why}`, { code: "internal" });
      this.#current?.ended(undefined, this.#failure);
    };
    this.#worker.on("error", (error) => lost(String(error)));
    this.#worker.on("exit", (code) => lost(`code ${code}`));
  }

  /** Return a new link; the one before must have ended. */
  open(endpoint: Endpoint): AnyLink {
    this.#links += 1;
    this.#current = new ThreadLink(this, endpoint, this.#links, this.#failure);
    return this.#current;
  }

  tell(message: ToThread): void {
    this.#port.postMessage(message);
  }

  /** Look at what the thread has told while this one was busy. */
  glance(look: (messages: readonly ServerMessage[]) => void): void {
    for (;;) {
      const next = receiveMessageOnPort(this.#port) as { message: FromThread } | undefined;
      if (!next) return;
      if (this.#seen.length === 0) setImmediate(() => this.#catchUp());
      this.#seen.push(next.message);
      const { message } = next;
      if (message.is === "frame" && message.link === this.#current?.number) {
        look(decodeFrame(message.raw));
      }
    }
  }

  /** End the thread. */
  async close(): Promise<void> {
    this.#current = undefined;
    this.#port.close();
    await this.#worker.terminate();
  }

  #catchUp(): void {
    const seen = this.#seen;
    this.#seen = [];
    for (const message of seen) this.#heard(message);
  }

  #heard(message: FromThread): void {
    const link = this.#current;
    if (link?.number !== message.link) return;
    switch (message.is) {
      case "frame":
        link.arrived(message.raw, message.atMs);
        break;
      case "ended":
        link.ended(message.goodbye, message.error && fromPlain(message.error));
        break;
      case "answer":
        link.answered(message.call, message.raw, message.error && fromPlain(message.error));
        break;
    }
  }
}

interface Waiting<T> {
  resolve(value: T): void;
  reject(error: ArenaError): void;
}

class ThreadLink implements AnyLink {
  open = false;
  readonly number: number;
  readonly #thread: LinkThread;
  readonly #endpoint: Endpoint;
  readonly #failure: ArenaError | undefined;
  #receive: (arrival: Arrival) => void = () => {};
  #run: Waiting<Goodbye | undefined> | undefined;
  readonly #calls = new Map<number, Waiting<Uint8Array>>();
  #called = 0;
  #outbox: Uint8Array[] = [];
  #over = false;
  /** When this thread was last known to be free. */
  #freeMs = 0;

  constructor(
    thread: LinkThread,
    endpoint: Endpoint,
    number: number,
    failure: ArenaError | undefined,
  ) {
    this.#thread = thread;
    this.#endpoint = endpoint;
    this.number = number;
    this.#failure = failure;
  }

  run(hello: Uint8Array, receive: (arrival: Arrival) => void): Promise<Goodbye | undefined> {
    this.#receive = receive;
    return new Promise((resolve, reject) => {
      this.#run = { resolve, reject };
      if (this.#failure) reject(this.#failure);
      const { number: link } = this;
      this.#thread.tell({ do: "open", link, endpoint: this.#endpoint, hello });
    });
  }

  send(entry: Uint8Array): void {
    if (this.#over) return;
    if (this.#outbox.length === 0) setImmediate(() => this.#flush());
    this.#outbox.push(entry);
    // An answer does not wait until the bot has thought about other matches, too.
    if (nowMs() - this.#freeMs > TOGETHER_MS) this.#flush();
  }

  leave(goodbye: Uint8Array): void {
    this.#flush();
    this.#thread.tell({ do: "leave", link: this.number, goodbye });
  }

  call(path: string, request: Uint8Array): Promise<Uint8Array> {
    this.#called += 1;
    const call = this.#called;
    return new Promise((resolve, reject) => {
      if (this.#over) return reject(this.#lost());
      this.#calls.set(call, { resolve, reject });
      this.#thread.tell({ do: "call", link: this.number, call, path, request });
    });
  }

  glance(look: (messages: readonly ServerMessage[]) => void): void {
    this.#thread.glance(look);
  }

  arrived(raw: Uint8Array, atMs: number): void {
    this.#freeMs = nowMs();
    const messages = decodeFrame(raw);
    if (messages.some(({ message }) => message?.$case === "welcome")) this.open = true;
    this.#receive({ messages, raw, atMs });
  }

  answered(call: number, raw: Uint8Array | undefined, error: ArenaError | undefined): void {
    const waiting = this.#calls.get(call);
    this.#calls.delete(call);
    if (error) waiting?.reject(error);
    else if (raw) waiting?.resolve(raw);
  }

  ended(goodbye: Goodbye | undefined, error: ArenaError | undefined): void {
    if (this.#over) return;
    this.#over = true;
    this.open = false;
    for (const waiting of this.#calls.values()) waiting.reject(this.#lost());
    this.#calls.clear();
    if (error) this.#run?.reject(error);
    else this.#run?.resolve(goodbye);
  }

  #flush(): void {
    const entries = this.#outbox;
    this.#outbox = [];
    this.#freeMs = nowMs();
    if (entries.length > 0) this.#thread.tell({ do: "send", link: this.number, entries });
  }

  #lost(): ArenaError {
    return new LinkError(`the link to ${this.#endpoint.address} was lost`);
  }
}
