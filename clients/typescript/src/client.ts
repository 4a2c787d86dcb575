/** The client: keeps a bot connected, and plays its matches. */

import { EventEmitter } from "node:events";
import type { AnyBot } from "./bot.js";
import { type Encoding, numbered } from "./encoding.js";
import { ArenaError, BotError, LinkError, RefusedError } from "./errors.js";
import { entryOf } from "./frames.js";
import type {
  BotMessage,
  ErrorNotice,
  Goodbye,
  Hello,
  Limits,
  MatchEnded,
  MatchOffer,
  ServerMessage,
  Welcome,
} from "./gen/fritillary/api/v1/bot.js";
import { LegalForm } from "./gen/fritillary/api/v1/bot.js";
import type { AnyLink, Arrival } from "./link.js";
import type { LinkThread } from "./linkthread.js";
import { decline, type Host, keyOf, Seat, told } from "./seat.js";
import { refusalOf, resolve, type Settings, type Setup } from "./settings.js";
import { type Table, Tables } from "./tables.js";
import { sentenceOf, shown } from "./text.js";
import { nowMs } from "./time.js";
import type { AnyGame, GameTypes, Outcome, Problem } from "./values.js";
import { givenUp, Pause } from "./waiting.js";

/** A link that held for so long was a good one: back-off begins anew. */
const GOOD_LINK_MS = 5_000;

/** Goodbyes with these codes say that the bot did something wrong. */
const BLAMES = /^(auth|limit)\./;

/** The one with which the server sends a bot away whose token another program uses. */
const REPLACED = "session.replaced";

/** How long a bot may take to hear the end of its last match before the client leaves. */
const END_WITHIN_MS = 5_000;

/** What can be listened to with `client.on`. */
export interface ClientEvents {
  /** The link is there, for the first time or again. */
  connected: [{ bot: string; resumed: boolean; serverVersion: string }];
  /** A link that was there is gone; the client tries to come back. */
  lost: [Problem];
}

/** One bot at one server. */
export class Client<G extends GameTypes = AnyGame> extends EventEmitter<ClientEvents> {
  /** To show. */
  readonly name: string;
  /** Of the server. */
  readonly address: string;
  /** Matches that have ended. */
  ended = 0;
  /**
   * Matches that this side has left unfinished, also since another program with its token
   * has taken its place.
   */
  abandoned = 0;
  /** Under which the server knows the bot; empty before the first link. */
  botName = "";
  /** Code and message with which the server has sent the bot away. */
  goodbye: Problem | undefined;
  readonly #setup: Setup;
  readonly #host: Host;
  readonly #tables = new Tables();
  readonly #seats = new Map<string, Seat>();
  readonly #ending = new Set<Seat>();
  #encoding: Encoding;
  #limits: Limits | undefined;
  #thread: LinkThread | undefined;
  #link: AnyLink | undefined;
  #session = "";
  #saidCapacity = 0;
  #draining = false;
  #farewell = false;
  #failure: ArenaError | undefined;
  #left = false;
  readonly #pause = new Pause();
  #welcomed = false;
  #welcomedMs = 0;

  /**
   * @param bot a function, a class, or an object; see `AnyBot`.
   * @throws {ConfigurationError} if address or token are missing, or something is wrong
   *   with another setting.
   */
  constructor(bot: AnyBot<G>, settings: Settings = {}) {
    super();
    // Nothing checks the types of one game: they are the word of the bot's author.
    const setup = resolve(bot as unknown as AnyBot, settings);
    this.#setup = setup;
    this.name = setup.info.name;
    this.address = setup.endpoint.address;
    this.#encoding = setup.encoding;
    this.#host = this.#hostOfSeats();
  }

  // ------------------------------------------------------------------- from outside

  /**
   * Connect, play, and reconnect, until there is a reason to stop: `matches` were played,
   * `drain` or `stop` was called, or the server said goodbye without asking to come back.
   *
   * @throws {LinkError} no server, or the link was lost for too long.
   * @throws {RefusedError} the server will not have this bot.
   * @throws {ProtocolError} the server sent garbage.
   * @throws {BotError} the bot threw, or answered with something that is no decision.
   */
  async run(): Promise<void> {
    try {
      await this.#stayConnected();
    } finally {
      // Those that the server sends away, it knows about; but not whether the program that
      // has taken their place is one that can play on.
      if (!this.goodbye || this.goodbye.code === REPLACED) this.abandoned = this.#playing();
      for (const seat of [...this.#seats.values(), ...this.#ending]) seat.abandon();
      this.#left = true;
      await this.#thread?.close();
    }
    if (this.#failure) throw this.#failure;
  }

  /** Take no new matches; leave when those in play have ended. */
  drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    this.#sayCapacity();
    this.#leaveWhenDone();
  }

  /** Leave at once; matches in play count as a lost link. */
  stop(): void {
    this.#leave("bot.stopping", "the bot was stopped");
  }

  // ------------------------------------------------------------------ staying there

  async #stayConnected(): Promise<void> {
    let sinceMs: number | undefined;
    let first = true;
    let tries = 0;
    while (!this.#left) {
      this.#welcomed = false;
      let askedToWait: number | undefined;
      try {
        const goodbye = await this.#oneLink();
        if (!goodbye) break;
        const parting = { code: goodbye.code, message: shown(goodbye.message) };
        this.#log(`the server says goodbye: ${parting.message} [${parting.code}]`);
        if (goodbye.reconnectAfterMs === undefined) {
          this.goodbye = parting;
          if (BLAMES.test(goodbye.code)) throw new RefusedError(parting.message, parting);
          break;
        }
        this.emit("lost", parting);
        [first, sinceMs, tries] = [false, nowMs(), 0];
        askedToWait = goodbye.reconnectAfterMs;
      } catch (error) {
        if (!(error instanceof LinkError || error instanceof RefusedError)) throw error;
        if (this.goodbye) throw error;
        const now = nowMs();
        if (this.#welcomed) {
          [first, sinceMs] = [false, now];
          if (now - this.#welcomedMs > GOOD_LINK_MS) tries = 0;
        }
        sinceMs ??= now;
        askedToWait = error.retryAfterMs;
        if (this.#left) break;
        if (error instanceof RefusedError && askedToWait === undefined) {
          if (!this.#forgetSession(error)) throw error;
          continue;
        }
        const patienceMs = first ? this.#setup.waitMs : this.#setup.giveUpAfterMs;
        const spentMs = now - sinceMs;
        if (spentMs >= patienceMs) throw spentMs < 1000 ? error : givenUp(error, spentMs);
        this.#log(`${error.message}; trying again`);
        if (this.#welcomed) this.emit("lost", { code: error.code, message: error.message });
      }
      if (!this.#left) await this.#pause.wait(tries, askedToWait);
      tries += 1;
    }
  }

  async #oneLink(): Promise<Goodbye | undefined> {
    const { endpoint, light } = this.#setup;
    let link: AnyLink;
    if (light) link = new (await import("./link.js")).Link(endpoint);
    else {
      if (!this.#thread) {
        const { LinkThread } = await import("./linkthread.js");
        this.#thread = new LinkThread();
      }
      link = this.#thread.open(endpoint);
    }
    if (this.#left) return undefined;
    this.#link = link;
    try {
      const hello = entryOf({ $case: "hello", hello: this.#hello() });
      return await link.run(hello, (arrival) => this.#arrived(arrival));
    } finally {
      this.#link = undefined;
    }
  }

  /** Begin a new session if the server refuses to resume the old one. */
  #forgetSession(error: RefusedError): boolean {
    if (!this.#session || !error.code.startsWith("session.")) return false;
    this.#log(`${error}; beginning a new session`);
    this.#session = "";
    this.#loseSeats();
    return true;
  }

  #hello(): Hello {
    const { info, games, encoding, legalForm } = this.#setup;
    this.#saidCapacity = this.#wantedCapacity();
    return {
      bot: info,
      games,
      features: [],
      encoding: encoding.number,
      legalForm,
      capacity: this.#saidCapacity,
      sessionToken: this.#session,
      acks: this.#session ? [...this.#seats.values()].map((seat) => seat.ack()) : [],
    };
  }

  // ----------------------------------------------------------- what the server says

  #arrived({ messages, atMs }: Arrival): void {
    try {
      for (const { message } of messages) if (message && !this.#left) this.#hear(message, atMs);
    } catch (error) {
      if (error instanceof ArenaError) this.#fail(error);
      else {
        const message = `the client failed: ${sentenceOf(error)}`;
        this.#fail(new ArenaError(message, { code: "internal", cause: error }));
      }
    }
  }

  #hear(message: NonNullable<ServerMessage["message"]>, atMs: number): void {
    switch (message.$case) {
      case "decisionRequest": {
        const request = message.decisionRequest;
        this.#seat(request)?.asked(request, atMs);
        break;
      }
      case "event":
        this.#seat(message.event)?.happened(message.event);
        break;
      case "decisionClosed":
        this.#seat(message.decisionClosed)?.closed(message.decisionClosed);
        break;
      case "matchOffer":
        this.#onOffer(message.matchOffer);
        break;
      case "matchEnded":
        this.#onEnded(message.matchEnded);
        break;
      case "matchStatus":
        this.#seat(message.matchStatus)?.status(message.matchStatus);
        break;
      case "welcome":
        this.#onWelcome(message.welcome);
        break;
      case "error":
        this.#onError(message.error);
        break;
    }
  }

  #seat(about: { matchId: string; seat?: number | undefined }): Seat | undefined {
    return this.#seats.get(keyOf(about.matchId, about.seat));
  }

  #onWelcome(welcome: Welcome): void {
    const again = this.#session !== "";
    this.#welcomed = true;
    this.#welcomedMs = nowMs();
    this.#session = welcome.sessionToken;
    this.botName = welcome.botName;
    this.#limits = welcome.limits;
    this.#encoding = numbered(welcome.encoding);
    if (again && !welcome.resumed) this.#loseSeats();
    const where = `${again ? "back at" : "connected to"} ${this.address}`;
    const server = `(server ${shown(welcome.serverVersion)})`;
    this.#log(`${where} as ${shown(welcome.botName)} ${server}`);
    const { botName: bot, resumed, serverVersion } = welcome;
    this.emit("connected", { bot, resumed, serverVersion });
    this.#sayCapacity();
    this.#leaveWhenDone();
  }

  #onOffer(offer: MatchOffer): void {
    const known = this.#seat(offer);
    if (known) {
      known.offeredAgain();
      return;
    }
    const refusal = refusalOf(this.#setup.games, offer);
    if (refusal) {
      this.#log(`match ${shown(offer.matchId)} is declined: ${refusal}`);
      this.#send(decline(offer, refusal));
      return;
    }
    let bot: ReturnType<Setup["source"]["make"]>;
    try {
      bot = this.#setup.source.make();
    } catch (cause) {
      if (cause instanceof ArenaError) throw cause;
      const how = "making the bot threw";
      throw new BotError(shown(`${how} ${sentenceOf(cause)}`), { cause, how });
    }
    const seat = new Seat(this.#host, bot, offer);
    this.#seats.set(seat.key, seat);
    this.#sayCapacity();
  }

  #onEnded({ matchId, seat: number, result }: MatchEnded): void {
    const seat = this.#seat({ matchId, seat: number });
    if (!seat) {
      // Our Ack was lost, or the seat was never taken.
      const unknown = { eventNumber: 0, closedDecisionId: undefined, ended: true };
      this.#send({ $case: "ack", ack: { matchId, seat: number, ...unknown } });
      return;
    }
    this.#send({ $case: "ack", ack: seat.ack(true) });
    this.#end(seat, seat.end(result));
  }

  #end(seat: Seat, outcome: Outcome): void {
    this.#seats.delete(seat.key);
    this.#ending.add(seat);
    void seat.task.finally(() => this.#ending.delete(seat));
    const { matchId } = seat.info;
    if (![...this.#seats.values()].some((other) => other.info.matchId === matchId)) {
      this.ended += 1;
    }
    this.#log(report(seat, outcome));
    this.#sayCapacity();
    this.#leaveWhenDone();
  }

  /** End the matches that the server does not know any more. */
  #loseSeats(): void {
    for (const seat of [...this.#seats.values()]) {
      const message = "the server does not know the match any more";
      this.#end(seat, seat.forget("link.lost", message));
    }
  }

  #onError({ matchId, error }: ErrorNotice): void {
    const { code = "", message = "" } = error ?? {};
    // The answer came too late; how the decision was closed is told anyway.
    if (code === "decision.stale" || code === "decision.unknown") return;
    const about = matchId ? ` about match ${shown(matchId)}` : "";
    this.#log(`the server could not use a message${about}: ${shown(message)} [${shown(code)}]`);
    if (code !== "match.unknown") return;
    for (const seat of [...this.#seats.values()]) {
      if (seat.info.matchId === matchId) this.#end(seat, seat.forget(code, message));
    }
  }

  // --------------------------------------------------------------- what seats need

  #hostOfSeats(): Host {
    const client = this;
    const { resigns, nonce, log } = this.#setup;
    return {
      get encoding() {
        return client.#encoding;
      },
      get limits() {
        return client.#limits;
      },
      resigns,
      nonce,
      log,
      send: (message) => client.#send(message),
      table: (offer) => client.#table(offer),
      listen: () => client.#link?.glance((messages) => client.#glance(messages)),
      drop: (seat) => client.#drop(seat),
      fail: (error) => client.#fail(error),
    };
  }

  #send(message: BotMessage["message"]): void {
    if (this.#link?.open) this.#link.send(entryOf(message));
  }

  /** Let bots that think know that nobody waits for their answers. */
  #glance(messages: readonly ServerMessage[]): void {
    for (const { message } of messages) {
      if (message?.$case === "decisionClosed") {
        this.#seat(message.decisionClosed)?.closed(message.decisionClosed);
      } else if (message?.$case === "matchEnded") {
        this.#seat(message.matchEnded)?.release();
      }
    }
  }

  async #table(offer: MatchOffer): Promise<Table | undefined> {
    if (this.#setup.legalForm !== LegalForm.LEGAL_FORM_PACKED || !offer.table) return undefined;
    return await this.#tables.get(offer, this.#encoding, async (path, request) => {
      if (this.#link?.open) return await this.#link.call(path, request);
      throw new LinkError("the link was lost while an action table was fetched");
    });
  }

  #drop(seat: Seat): void {
    if (this.#seats.get(seat.key) !== seat) return;
    this.#seats.delete(seat.key);
    this.#sayCapacity();
    this.#leaveWhenDone();
  }

  #fail(error: ArenaError): void {
    if (this.#failure || this.#left) return;
    this.#failure = error;
    if (error instanceof BotError) {
      if (error.cause !== undefined) this.#log(told(error));
      this.#leave(
        "bot.failed",
        `the bot failed${error.how ? `: ${error.how}` : " and has been stopped"}`,
      );
    } else {
      this.#leave("bot.stopping", "the client stops because of an error");
    }
  }

  // ----------------------------------------------------------------------- leaving

  /** Return how many matches are in play. */
  #playing(): number {
    return new Set([...this.#seats.values()].map((seat) => seat.info.matchId)).size;
  }

  #wantedCapacity(): number {
    const { capacity, matches } = this.#setup;
    if (this.#draining) return 0;
    if (matches === undefined) return capacity;
    const playing = this.#playing();
    const more = matches - this.ended - playing;
    return more > 0 ? Math.min(capacity, playing + more) : 0;
  }

  #sayCapacity(): void {
    const matches = this.#wantedCapacity();
    if (matches === this.#saidCapacity || !this.#link?.open) return;
    this.#saidCapacity = matches;
    this.#send({ $case: "capacity", capacity: { matches } });
  }

  #leaveWhenDone(): void {
    const { matches } = this.#setup;
    const done = this.#draining || (matches !== undefined && this.ended >= matches);
    if (done && this.#seats.size === 0 && !this.#farewell) void this.#sayFarewell();
  }

  async #sayFarewell(): Promise<void> {
    this.#farewell = true;
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => {
      timer = setTimeout(resolve, END_WITHIN_MS);
    });
    await Promise.race([Promise.all([...this.#ending].map((seat) => seat.task)), enough]);
    clearTimeout(timer);
    // A match that was offered meanwhile is played like any other.
    if (this.#seats.size > 0) this.#farewell = false;
    else this.#leave("bot.stopping", "the bot has played its matches");
  }

  #leave(code: string, message: string): void {
    if (this.#left) return;
    this.#left = true;
    this.#pause.cut();
    const goodbye = { code, message, reconnectAfterMs: undefined };
    this.#link?.leave(entryOf({ $case: "goodbye", goodbye }));
  }

  #log(line: string): void {
    this.#setup.log(line);
  }
}

function report(seat: Seat, outcome: Outcome): string {
  const { matchId, fullId, seat: number, seats } = seat.info;
  const { kind, place, reason, message, code } = outcome;
  const head = `match ${matchId}, ${fullId}, seat ${number}: ${kind}`;
  const result = place === undefined ? "" : `, place ${place} of ${seats}, ${reason}`;
  return shown(`${head}${result}${code ? `: ${message} [${code}]` : ""}`);
}
