/** What makes a client leave, and how it leaves. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { type Ask, BotError, DecisionError } from "fritillary-client";
import { first, goodbye, offer, request, withArena, within } from "./arena.js";

test("a bot that throws stops the client, and the server is told", async () => {
  const decide = () => {
    throw new RangeError("oh");
  };
  await withArena(async (arena) => {
    const lines: string[] = [];
    const { client, over } = arena.connect(decide, { log: (line) => lines.push(line) });
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    const { goodbye } = await stream.find("goodbye");
    assert.equal(goodbye.code, "bot.failed");
    assert.equal(goodbye.message, "the bot failed: decide() threw RangeError");
    await assert.rejects(within(over, "the end"), (error) => {
      assert.ok(error instanceof BotError);
      assert.equal(String(error), "decide() threw RangeError: oh [bot.failed]");
      assert.ok(error.cause instanceof RangeError);
      return true;
    });
    assert.equal(client.abandoned, 1);
    assert.ok(
      lines.some((line) => line.includes("leaving.test")),
      "the place is told",
    );
  });
});

test("a bot that answers nonsense resigns if that is wanted, and plays on", async () => {
  const decide = (ask: Ask) => (ask.info.matchId === "m" ? (null as unknown as number) : 0);
  await withArena(async (arena) => {
    arena.connect(decide, { onError: "resign", capacity: 2 });
    const stream = await arena.stream();
    await stream.welcome({ capacity: 2 });
    await stream.seat();
    await stream.seat({ matchId: "n" });
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    assert.equal((await stream.find("resign")).resign.matchId, "m");
    assert.equal((await stream.ask({ matchId: "n" })).matchId, "n");
  });
  await withArena(async (arena) => {
    const { over } = arena.connect(decide);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    await assert.rejects(within(over, "the end"), DecisionError);
  });
});

test("draining takes no new matches and leaves after the last", async () => {
  await withArena(async (arena) => {
    const { client, over } = arena.connect(first, { capacity: 3 });
    const stream = await arena.stream();
    await stream.welcome({ capacity: 3 });
    await stream.seat();
    client.drain();
    assert.equal((await stream.find("capacity")).capacity.matches, 0);
    await stream.ask();
    await stream.finish();
    assert.equal((await stream.find("goodbye")).goodbye.code, "bot.stopping");
    await within(over, "leaving");
    assert.equal(client.abandoned, 0);
  });
});

test("stopping leaves at once and counts what is left behind", async () => {
  await withArena(async (arena) => {
    const decide = async (ask: Ask) => {
      await sleep(60_000, undefined, { signal: ask.signal, ref: false }).catch(() => {});
      return first(ask);
    };
    const { client, over } = arena.connect(decide);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    await sleep(20);
    client.stop();
    await stream.find("goodbye");
    await within(over, "leaving");
    assert.equal(client.abandoned, 1);
  });
});

test("who is replaced by another program has left its matches unfinished", async () => {
  for (const [code, abandoned] of [
    ["session.replaced", 1],
    ["server.stopping", 0],
  ] as const) {
    await withArena(async (arena) => {
      const { client, over } = arena.connect(first);
      const stream = await arena.stream();
      await stream.welcome();
      await stream.seat();
      stream.send(goodbye(code));
      stream.end();
      await within(over, "the end");
      assert.equal(client.abandoned, abandoned, code);
    });
  }
});

test("with a number of matches no more are asked for than are left", async () => {
  await withArena(async (arena) => {
    const { over } = arena.connect(first, { capacity: 4, matches: 2 });
    const stream = await arena.stream();
    assert.equal((await stream.welcome({ capacity: 2 })).capacity, 2);
    await stream.seat({ matchId: "a" });
    stream.send({ $case: "matchOffer", matchOffer: offer({ matchId: "b" }) });
    assert.equal((await stream.find("capacity")).capacity.matches, 0);
    await stream.find("ready");
    await stream.finish({}, "a");
    await stream.finish({}, "b");
    await stream.find("goodbye");
    await within(over, "leaving");
  });
});
