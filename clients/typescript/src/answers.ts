/** From what `decide` returned to the message that answers a request. */

import type { Encoding } from "./encoding.js";
import { DecisionError } from "./errors.js";
import {
  BotMessage,
  type DecisionRequest,
  type Limits,
  type Decision as WireDecision,
} from "./gen/fritillary/api/v1/bot.js";
import { isRecord } from "./msgpack.js";
import { cutToBytes, isText, sentenceOf } from "./text.js";
import type { AnyGame, GameTypes } from "./values.js";

const FORMS = "return one of ask.legal, its index, its text, its action, a Decision, or RESIGN";
const MOST_INDEX = 2 ** 32 - 1;
const MOST_MS = 2 ** 31 - 1;

/** Bytes of a frame around its only message, at most. */
const ENVELOPE = 16;

/** One thing that a seat may do. */
export class LegalAction<Action = AnyGame["action"]> {
  /** In the action table; in a game without one, in the legal actions. */
  readonly index: number;
  /** In the notation of the game. */
  readonly text: string;
  #decode: (() => Action) | undefined;
  #action: Action | undefined;

  constructor(index: number, text: string, decode: () => Action) {
    this.index = index;
    this.text = text;
    this.#decode = decode;
  }

  /** The action as data, such as `{ type: "pass" }`; do not change it. */
  get action(): Action {
    if (this.#decode) {
      this.#action = this.#decode();
      this.#decode = undefined;
    }
    return this.#action as Action;
  }

  toString(): string {
    return this.text;
  }
}

/** The bot gives up the match: the answer for that. */
export const RESIGN = Symbol("RESIGN");

/** What names an action: one of `ask.legal`, its index, its text, or its data. */
export type Choice<G extends GameTypes = AnyGame> =
  | LegalAction<G["action"]>
  | number
  | string
  | G["action"];

/** A choice with what the record may keep beside it. */
export class Decision<G extends GameTypes = AnyGame> {
  readonly choice: Choice<G>;
  /**
   * A remark for the record. No other seat sees it while the match goes on; afterwards all
   * who may fetch the record do.
   */
  readonly note: string;
  /** With which the bot chose, for each of `ask.legal` in order; as public as the note. */
  readonly probabilities: readonly number[];

  constructor(
    choice: Choice<G>,
    beside: { note?: string; probabilities?: readonly number[] } = {},
  ) {
    this.choice = choice;
    this.note = beside.note ?? "";
    this.probabilities = beside.probabilities ?? [];
  }
}

/** What `decide` may return. */
export type Answer<G extends GameTypes = AnyGame> = Choice<G> | Decision<G> | typeof RESIGN;

/**
 * Return the answer to a request.
 *
 * Whether the choice is legal is for the referee to say: its explanation is better than
 * any that could be given here, and the policy may allow another attempt.
 *
 * @throws {DecisionError} if `decide` returned something that is no decision.
 */
export function messageOf(
  decided: unknown,
  request: DecisionRequest,
  encoding: Encoding,
  limits: Limits | undefined,
  thinkMs: number,
): BotMessage {
  const { matchId, seat, decisionId } = request;
  if (decided === RESIGN) {
    const resign = { matchId, seat, decisionId };
    return { messageId: 0, message: { $case: "resign", resign } };
  }
  const beside = decided instanceof Decision ? extrasOf(decided, request, limits) : {};
  const decision: WireDecision = {
    matchId,
    seat,
    decisionId,
    choice: choiceOf(decided instanceof Decision ? decided.choice : decided, request, encoding),
    note: beside.note,
    probabilities: beside.probabilities ?? [],
    thinkMs: Math.min(Math.max(Math.floor(thinkMs), 0), MOST_MS),
  };
  const message: BotMessage = { messageId: 0, message: { $case: "decision", decision } };
  const most = limits?.maxMessageBytes;
  if (most && decision.choice?.$case !== "index" && isLonger(message, most)) {
    // Notes and probabilities are a courtesy, the choice is not.
    decision.note = undefined;
    decision.probabilities = [];
    if (isLonger(message, most)) {
      throw new DecisionError(`decide() returned an action of more than ${most} bytes`);
    }
  } else if (most && beside.probabilities && isLonger(message, most)) {
    decision.note = undefined;
    decision.probabilities = [];
  }
  return message;
}

function isLonger(message: BotMessage, most: number): boolean {
  return BotMessage.encode(message).finish().length + ENVELOPE > most;
}

function choiceOf(
  choice: unknown,
  request: DecisionRequest,
  encoding: Encoding,
): WireDecision["choice"] {
  if (choice instanceof LegalAction) return { $case: "index", index: choice.index };
  if (typeof choice === "number") return { $case: "index", index: checkedIndex(choice, request) };
  if (typeof choice === "string") {
    if (isText(choice)) return { $case: "text", text: choice };
    const cut = JSON.stringify(choice.slice(0, 40));
    throw new DecisionError(`decide() returned text that is not Unicode: ${cut}`);
  }
  if (isRecord(choice)) {
    try {
      return { $case: "action", action: encoding.encode(choice) };
    } catch (error) {
      const why = sentenceOf(error);
      throw new DecisionError(`decide() returned an object that cannot be sent: ${why}`);
    }
  }
  throw new DecisionError(`decide() returned ${described(choice)}; ${FORMS}`);
}

function checkedIndex(index: number, request: DecisionRequest): number {
  if (Number.isInteger(index) && index >= 0 && index <= MOST_INDEX) return index;
  const { legal } = request;
  throw new DecisionError(
    `decide() returned the index ${index}; legal are ${legal.length} indices from ${legal[0] ?? 0}`,
  );
}

function extrasOf(
  decided: Decision,
  request: DecisionRequest,
  limits: Limits | undefined,
): { note?: string; probabilities?: number[] } {
  const beside: { note?: string; probabilities?: number[] } = {};
  const note: unknown = decided.note;
  if (typeof note !== "string") {
    throw new DecisionError(`Decision.note must be a string, not ${described(note)}`);
  }
  if (note) beside.note = cutToBytes(note, limits?.maxNoteBytes || note.length * 3);
  const probabilities = [...decided.probabilities];
  if (probabilities.length === 0) return beside;
  const legal = request.legal.length;
  if (probabilities.length !== legal) {
    throw new DecisionError(
      `Decision.probabilities has ${probabilities.length} entries for ${legal} legal actions; ` +
        "give one for each of ask.legal",
    );
  }
  if (!probabilities.every((each) => typeof each === "number")) {
    throw new DecisionError("Decision.probabilities must be numbers");
  }
  return { ...beside, probabilities };
}

function described(value: unknown): string {
  if (value === undefined || value === null) return String(value);
  const kind = typeof value === "object" ? value.constructor?.name : typeof value;
  let text = "something";
  try {
    text = String(value);
  } catch {
    // a stranger's toString
  }
  return `${text.slice(0, 60)} (${kind})`;
}
