/** One stream to the server, from Hello to its end. */

import type { Client, ClientDuplexStream, StatusObject } from "@grpc/grpc-js";
import { status as Status } from "@grpc/grpc-js";
import { errorOf, hush, metadataOf, openChannel, refused } from "./calls.js";
import type { Endpoint } from "./endpoint.js";
import { type ArenaError, LinkError, ProtocolError } from "./errors.js";
import { decodeFrame, entryOf } from "./frames.js";
import {
  BotServiceDefinition,
  type Goodbye,
  type Limits,
  type ServerMessage,
  type Welcome,
} from "./gen/fritillary/api/v1/bot.js";
import { sentenceOf } from "./text.js";
import { nowMs } from "./time.js";

/** The figures of the protocol; Welcome repeats those of the server. */
const PING_AFTER_MS = 20_000;
const PONG_WITHIN_MS = 20_000;

/** How long a server may take from the first try to connect to its first answer. */
const OPEN_WITHIN_MS = 15_000;

/** How long the server may take to close the stream after a Goodbye, whoever's. */
const CLOSE_WITHIN_MS = 2_000;

/** For one answer beside the stream. */
const ANSWER_WITHIN_MS = 10_000;

/** Bytes of a frame before Welcome has told the limits. */
const LEAST_FRAME = 16 * 1024;

/** Messages in one frame. */
const MOST = 256;

const CONNECT = `/${BotServiceDefinition.fullName}/${BotServiceDefinition.methods.connect.name}`;

/** A frame that has arrived. */
export interface Arrival {
  readonly messages: readonly ServerMessage[];
  /** The same as it came. */
  readonly raw: Uint8Array;
  /** When, by `nowMs`. */
  readonly atMs: number;
}

/** What speaks with the server: here, or from a thread of its own. */
export interface AnyLink {
  /** Whether Welcome has arrived and the stream has not ended. */
  readonly open: boolean;
  /** Send an entry of a frame; what is sent together travels together. */
  send(entry: Uint8Array): void;
  /** Say goodbye after what was sent so far, then close the stream. */
  leave(goodbye: Uint8Array): void;
  /**
   * Return the answer of another method of the server.
   *
   * @throws {ArenaError} if the server cannot or will not give it.
   */
  call(path: string, request: Uint8Array): Promise<Uint8Array>;
  /**
   * Look at what has arrived while this thread was busy. It is handed over all the same,
   * when the thread is free.
   */
  glance(look: (messages: readonly ServerMessage[]) => void): void;
  /**
   * Open the stream and handle it to its end; return the server's Goodbye, or undefined if
   * this side left. Pings, Goodbye and Refusal are handled here, all else by `receive`.
   *
   * @throws {RefusedError} by the server.
   * @throws {LinkError} no server, or the link was lost.
   * @throws {ProtocolError} the server sent garbage.
   */
  run(hello: Uint8Array, receive: (arrival: Arrival) => void): Promise<Goodbye | undefined>;
}

const asIs = (raw: Buffer) => raw;

/** One stream. Messages in both directions are handled in order. */
export class Link implements AnyLink {
  open = false;
  readonly #endpoint: Endpoint;
  readonly #client: Client;
  #call: ClientDuplexStream<Buffer, Buffer> | undefined;
  #receive: (arrival: Arrival) => void = () => {};
  #unhush: () => void = () => {};
  #outbox: Uint8Array[] = [];
  #flushing = false;
  #unblock: (() => void) | undefined;
  #scheduled = false;
  #leaving = false;
  #over = false;
  #limits: Limits | undefined;
  #goodbye: Goodbye | undefined;
  #error: ArenaError | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pingAfterMs = PING_AFTER_MS;
  #pongWithinMs = PONG_WITHIN_MS;
  #beganMs = 0;
  #heardMs = 0;
  #pingedMs: number | undefined;
  /** Messages that may be sent at once, and when that was counted. */
  #credit = 1;
  #pacedMs = 0;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
    this.#client = openChannel(endpoint);
  }

  send(entry: Uint8Array): void {
    if (this.#leaving || this.#over) return;
    this.#outbox.push(entry);
    this.#schedule();
  }

  leave(goodbye: Uint8Array): void {
    if (this.#leaving) return;
    this.send(goodbye);
    this.#leaving = true;
    this.#schedule();
    this.#watchIn(CLOSE_WITHIN_MS);
  }

  glance(): void {
    // All that has arrived was handed over: the link has no thread of its own.
  }

  call(path: string, request: Uint8Array): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const deadline = Date.now() + ANSWER_WITHIN_MS;
      const args = [path, asIs, asIs, Buffer.from(request)] as const;
      const metadata = metadataOf(this.#endpoint);
      this.#client.makeUnaryRequest(...args, metadata, { deadline }, (error, answer) => {
        if (answer !== undefined) resolve(answer);
        else if (error?.code === Status.DEADLINE_EXCEEDED) {
          const { address } = this.#endpoint;
          const message = `the server at ${address} did not answer in ${ANSWER_WITHIN_MS / 1000} s`;
          reject(new LinkError(message, { code: "link.unreachable" }));
        } else if (error) reject(errorOf(error, this.#endpoint, true));
      });
    });
  }

  run(hello: Uint8Array, receive: (arrival: Arrival) => void): Promise<Goodbye | undefined> {
    this.#receive = receive;
    this.#beganMs = nowMs();
    this.#heardMs = this.#beganMs;
    this.#pacedMs = this.#beganMs;
    this.#unhush = hush(this.#endpoint);
    const call = this.#client.makeBidiStreamRequest(
      CONNECT,
      asIs,
      asIs,
      metadataOf(this.#endpoint),
    );
    this.#call = call;
    this.#outbox.unshift(hello);
    this.#schedule();
    this.#watchIn(0);
    return new Promise((resolve, reject) => {
      call.on("data", (raw: Buffer) => this.#arrived(raw));
      // Its status tells the same.
      call.on("error", () => {});
      call.on("status", (status: StatusObject) => {
        // What has arrived before it may be handed over only now.
        setImmediate(() => {
          const error = this.#ended(status);
          if (error) reject(error);
          else resolve(this.#goodbye);
        });
      });
    });
  }

  /** Take leave of the stream; return why it was lost, where it was. */
  #ended(status: StatusObject): ArenaError | undefined {
    const opened = this.open;
    this.open = false;
    this.#over = true;
    this.#unhush();
    this.#unblock?.();
    clearTimeout(this.#timer);
    this.#client.close();
    if (this.#leaving) {
      this.#goodbye = undefined;
      return undefined;
    }
    if (this.#error) return this.#error;
    if (this.#goodbye) return undefined;
    if (status.code === Status.OK) {
      return new LinkError(`the server at ${this.#endpoint.address} closed the stream`);
    }
    return errorOf(status, this.#endpoint, opened);
  }

  #fail(error: ArenaError): void {
    this.#error ??= error;
    this.#call?.cancel();
  }

  // ----------------------------------------------------------------------- incoming

  #arrived(raw: Buffer): void {
    if (this.#error) return;
    this.#heardMs = nowMs();
    let messages: ServerMessage[];
    try {
      messages = decodeFrame(raw);
    } catch (cause) {
      const message = `the server at ${this.#endpoint.address} sent a frame that cannot be read`;
      this.#fail(new ProtocolError(`${message} (${sentenceOf(cause)})`, { cause }));
      return;
    }
    let wanted = false;
    for (const { message } of messages) {
      if (!message) continue; // of a later version
      switch (message.$case) {
        case "ping":
          this.send(entryOf({ $case: "pong", pong: { id: message.ping.id } }));
          break;
        case "pong":
          break;
        case "goodbye":
          if (!this.#goodbye) this.#watchIn(CLOSE_WITHIN_MS);
          this.#goodbye = message.goodbye;
          break;
        case "refusal":
          this.#fail(refused(message.refusal.error));
          return;
        case "welcome":
          if (!this.#begin(message.welcome)) return;
          wanted = true;
          break;
        default:
          if (!this.open) {
            const what = `the server began with ${message.$case} in place of Welcome`;
            this.#fail(new ProtocolError(what));
            return;
          }
          wanted = true;
      }
    }
    if (wanted) this.#receive({ messages, raw, atMs: this.#heardMs });
  }

  #begin(welcome: Welcome): boolean {
    if (this.open) {
      this.#fail(new ProtocolError("the server sent Welcome twice"));
      return false;
    }
    this.#unhush();
    this.#limits = welcome.limits;
    const { pingAfterMs, pongWithinMs } = welcome.limits?.keepalive ?? {};
    if (pingAfterMs && pongWithinMs) {
      this.#pingAfterMs = pingAfterMs;
      this.#pongWithinMs = pongWithinMs;
    }
    this.open = true;
    this.#watchIn(0);
    return true;
  }

  // ----------------------------------------------------------------------- outgoing

  #schedule(): void {
    if (this.#scheduled || this.#flushing) return;
    this.#scheduled = true;
    setImmediate(() => {
      this.#scheduled = false;
      void this.#flush();
    });
  }

  async #flush(): Promise<void> {
    const call = this.#call;
    if (!call || this.#flushing || this.#over) return;
    this.#flushing = true;
    while (this.#outbox.length > 0 && !this.#over) {
      const { frame, count } = this.#nextFrame();
      const wait = this.#pace(count);
      if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
      if (!call.write(frame) && !this.#over) {
        await new Promise<void>((resolve) => {
          this.#unblock = resolve;
          call.once("drain", resolve);
        });
      }
    }
    this.#flushing = false;
    if (this.#leaving) call.end();
  }

  /** Take as many messages as one frame holds, at least one. */
  #nextFrame(): { frame: Buffer; count: number } {
    const most = this.#limits?.maxMessageBytes || LEAST_FRAME;
    const mostCount = Math.min(this.#limits?.maxMessagesPerSecond || MOST, MOST);
    let bytes = 0;
    let count = 0;
    for (const entry of this.#outbox) {
      if (count > 0 && (count >= mostCount || bytes + entry.length > most)) break;
      bytes += entry.length;
      count += 1;
    }
    return { frame: Buffer.concat(this.#outbox.splice(0, count), bytes), count };
  }

  /** Return how long to wait before so many messages, so that the rate is kept, in ms. */
  #pace(count: number): number {
    const rate = this.#limits?.maxMessagesPerSecond;
    if (!rate) return 0;
    const now = nowMs();
    const earned = ((now - this.#pacedMs) / 1000) * rate;
    this.#credit = Math.min(rate, this.#credit + earned) - count;
    this.#pacedMs = now;
    return this.#credit < 0 ? (-this.#credit / rate) * 1000 : 0;
  }

  // ------------------------------------------------------------------- a lost link

  #watchIn(ms: number): void {
    if (this.#over) return;
    clearTimeout(this.#timer);
    const dueMs = nowMs() + ms;
    this.#timer = setTimeout(() => this.#watch(dueMs), ms);
  }

  /** Find out that the link is lost, and see that a Goodbye ends it. */
  #watch(dueMs: number): void {
    const next = this.#leaving || this.#goodbye ? undefined : this.#nextLook(dueMs);
    if (next === undefined) this.#call?.cancel();
    else if (typeof next === "number") this.#watchIn(next);
    else this.#fail(next);
  }

  /** Return in how many milliseconds to look again, or why the link is lost. */
  #nextLook(dueMs: number): number | ArenaError {
    const now = nowMs();
    const { address } = this.#endpoint;
    if (!this.open) {
      const leftMs = this.#beganMs + OPEN_WITHIN_MS - now;
      if (leftMs > 0) return leftMs;
      const message = `the server at ${address} did not answer within ${OPEN_WITHIN_MS / 1000} s`;
      return new LinkError(message, { code: "link.unreachable" });
    }
    if (this.#pingedMs !== undefined && this.#heardMs <= this.#pingedMs) {
      // This process stood still, so the Pong could not be read.
      if (now > dueMs + 1000) this.#pingedMs = now;
      const leftMs = this.#pingedMs + this.#pongWithinMs - now;
      if (leftMs > 0) return leftMs;
      return new LinkError(`the server at ${address} was silent for too long`);
    }
    this.#pingedMs = undefined;
    const leftMs = this.#heardMs + this.#pingAfterMs - now;
    if (leftMs > 0) return leftMs;
    this.#pingedMs = now;
    this.send(entryOf({ $case: "ping", ping: { id: Math.floor(now) } }));
    return this.#pongWithinMs;
  }
}
