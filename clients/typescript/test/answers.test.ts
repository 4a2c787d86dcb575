/** What `decide` may return, and what it may not. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Decision, DecisionError, LegalAction, RESIGN } from "fritillary-client";
import type { bot as wire } from "fritillary-client/wire";
import { messageOf } from "../src/answers.js";
import { JSON_TEXT, MSGPACK } from "../src/encoding.js";
import { limits, request } from "./arena.js";

function decisionOf(decided: unknown, most = 4096): wire.Decision {
  const { message } = messageOf(
    decided,
    request({ decisionId: 9, legal: [3, 5] }),
    MSGPACK,
    limits({ maxMessageBytes: most }),
    12.7,
  );
  assert.equal(message?.$case, "decision");
  return message?.$case === "decision" ? message.decision : assert.fail();
}

test("an answer names match, seat and decision, and how long it took", () => {
  const { matchId, seat, decisionId, thinkMs } = decisionOf(3);
  assert.deepEqual([matchId, seat, decisionId, thinkMs], ["m", 0, 9, 12]);
});

test("a legal action is sent as its index", () => {
  const legal = new LegalAction(5, "five", () => ({ type: "five" }));
  assert.deepEqual(decisionOf(legal).choice, { $case: "index", index: 5 });
  assert.deepEqual(decisionOf(new Decision(legal)).choice, { $case: "index", index: 5 });
});

test("an action is sent in the encoding of the session", () => {
  const action = { type: "play", cards: [1, null] };
  const { choice } = decisionOf(action);
  assert.ok(choice?.$case === "action");
  assert.deepEqual(MSGPACK.decode(choice.action, "it"), action);
  const { message } = messageOf(action, request(), JSON_TEXT, undefined, 0);
  assert.ok(message?.$case === "decision" && message.decision.choice?.$case === "action");
  assert.equal(
    Buffer.from(message.decision.choice.action).toString(),
    '{"type":"play","cards":[1,null]}',
  );
});

test("giving up is a message of its own", () => {
  const { message } = messageOf(RESIGN, request(), MSGPACK, undefined, 0);
  assert.deepEqual(message, { $case: "resign", resign: { matchId: "m", seat: 0, decisionId: 1 } });
});

const cases: [string, unknown, RegExp][] = [
  ["nothing", undefined, /returned undefined; return one of ask.legal/],
  ["null", null, /returned null; return one of/],
  ["a boolean", true, /returned true \(boolean\)/],
  ["a list", [1], /returned 1 \(Array\)/],
  ["a fraction", 1.5, /returned the index 1.5; legal are 2 indices from 3/],
  ["a negative index", -1, /the index -1/],
  ["an index that is too large", 2 ** 32, /the index 4294967296/],
  ["no number", Number.NaN, /the index NaN/],
  ["half of a pair", "a\ud800", /text that is not Unicode/],
  ["an instance of a class", new Date(0), /\(Date\)/],
  ["an action with a fraction", { x: 1.5 }, /cannot be sent: TypeError: 1.5 is no integer/],
  ["an action with a large number", { x: 2 ** 53 }, /no integer of at most 53 bits/],
  ["an action with a bigint", { x: 1n }, /of type bigint is no plain data/],
  ["an action with a gap", { x: undefined }, /of type undefined is no plain data/],
  ["a symbol", Symbol("x"), /\(symbol\)/],
  ["a note that is no text", new Decision(3, { note: 4 as unknown as string }), /note must be/],
  ["too few probabilities", new Decision(3, { probabilities: [1] }), /1 entries for 2 legal/],
  [
    "probabilities that are no numbers",
    new Decision(3, { probabilities: ["1", "2"] as unknown as number[] }),
    /must be numbers/,
  ],
];

for (const [what, decided, message] of cases) {
  test(`no decision: ${what}`, () => {
    assert.throws(
      () => decisionOf(decided),
      (error) => error instanceof DecisionError && message.test(error.message),
    );
  });
}

test("JSON refuses what it would change in silence", () => {
  for (const action of [{ x: Number.NaN }, { x: undefined }, { x: new Date(0) }, { x: 0.5 }]) {
    assert.throws(() => messageOf(action, request(), JSON_TEXT, undefined, 0), DecisionError);
  }
});

test("a note is cut between characters to what the server takes", () => {
  assert.equal(decisionOf(new Decision(3, { note: "é".repeat(30) })).note, "é".repeat(10));
  assert.equal(decisionOf(new Decision(3, { note: `a${"é".repeat(30)}` })).note?.length, 10);
  assert.equal(decisionOf(new Decision(3, { note: "short" })).note, "short");
});

test("notes and probabilities are left out of a message that would be too long", () => {
  const beside = { note: "a note", probabilities: [0.5, 0.5] };
  const text = "x".repeat(30);
  const { note, probabilities, choice } = decisionOf(new Decision(text, beside), 64);
  assert.deepEqual([note, probabilities, choice], [undefined, [], { $case: "text", text }]);
  assert.equal(decisionOf(new Decision(3, beside), 40).note, undefined);
  assert.equal(decisionOf(new Decision(3, beside)).note, "a note");
  assert.throws(() => decisionOf("x".repeat(100), 64), DecisionError);
});
