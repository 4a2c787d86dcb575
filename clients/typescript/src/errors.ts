/** The errors of the client, each with a stable dotted code. */

/** What an error may carry beside its sentence. */
export interface ErrorDetails {
  /** Stable dotted code; the server's own where the server sent it. */
  code?: string | undefined;
  /** When trying again makes sense, in milliseconds; left out if it never does. */
  retryAfterMs?: number | undefined;
  /** What led to it. */
  cause?: unknown;
}

/** Base of all errors that the client throws on purpose; `message` is one sentence. */
export class ArenaError extends Error {
  static readonly defaultCode: string = "arena";
  /** Stable dotted code. */
  readonly code: string;
  /** When trying again makes sense; undefined if it never does. */
  readonly retryAfterMs: number | undefined;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? {} : { cause: details.cause });
    this.name = new.target.name;
    this.code = details.code || new.target.defaultCode;
    this.retryAfterMs = details.retryAfterMs;
  }

  /** The sentence with its code, as it is shown to people. */
  override toString(): string {
    return `${this.message} [${this.code}]`;
  }
}

/** The client was told too little, or something that cannot be. */
export class ConfigurationError extends ArenaError {
  static override readonly defaultCode: string = "usage";
}

/** There is no server at the address, or the link to it was lost for good. */
export class LinkError extends ArenaError {
  static override readonly defaultCode: string = "link.lost";
}

/** The server will not have this bot, such as `auth.unknown-token`. */
export class RefusedError extends ArenaError {
  static override readonly defaultCode: string = "refused";
}

/** The server sent what cannot be understood, or what makes no sense. */
export class ProtocolError extends ArenaError {
  static override readonly defaultCode: string = "protocol.garbage";
}

/** The bot failed; the cause is what it threw. */
export class BotError extends ArenaError {
  static override readonly defaultCode: string = "bot.failed";
  /** How it failed, without anything of the bot's own: the server is told this much. */
  readonly how: string;

  constructor(message: string, details: ErrorDetails & { how?: string } = {}) {
    super(message, details);
    this.how = details.how ?? "";
  }
}

/** The bot answered with something that is no decision. */
export class DecisionError extends BotError {
  static override readonly defaultCode: string = "bot.answer";

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { ...details, how: "what it answered is no decision" });
  }
}

/** Thrown by `Bot.offered` to refuse a seat; the server is told code and message. */
export class Declined extends ArenaError {
  static override readonly defaultCode: string = "bot.declined";
}

const CLASSES = { ArenaError, ConfigurationError, LinkError, RefusedError, ProtocolError };

/** An error as it travels from the thread of the link. */
export interface PlainError {
  kind: string;
  message: string;
  code?: string;
  retryAfterMs?: number | undefined;
}

/** Return an error as data that can be posted to another thread. */
export function toPlain(error: unknown): PlainError {
  if (error instanceof ArenaError) {
    const { name, message, code, retryAfterMs } = error;
    return { kind: name, message, code, retryAfterMs };
  }
  return { kind: "ArenaError", message: `the client failed: ${String(error)}`, code: "internal" };
}

/** Return the error that was posted. */
export function fromPlain(plain: PlainError): ArenaError {
  const made = CLASSES[plain.kind as keyof typeof CLASSES] ?? ArenaError;
  return new made(plain.message, plain);
}
