/** What comes of offers: seats, tables, instances of bots, and deals. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Ask,
  type Bot,
  Declined,
  type MatchInfo,
  type Outcome,
  RESIGN,
} from "fritillary-client";
import { botSeed, commitment } from "../src/dealing.js";
import { MSGPACK } from "../src/encoding.js";
import { first, Mailbox, offer, sha256, TABLE_HASH, withArena, within } from "./arena.js";

test("a bot may decline, and the seat is forgotten", async () => {
  class Picky implements Bot {
    offered(info: MatchInfo) {
      if (info.matchId === "no") throw new Declined("not this one", { code: "my.reason" });
    }
    decide = first;
  }
  await withArena(async (arena) => {
    const { client, over } = arena.connect(Picky, { matches: 1 });
    const stream = await arena.stream();
    await stream.welcome();
    stream.send({ $case: "matchOffer", matchOffer: offer({ matchId: "no" }) });
    const { decline } = await stream.find("decline");
    assert.deepEqual([decline.code, decline.message], ["my.reason", "not this one"]);
    assert.equal((await stream.finish({}, "no")).ended, true);
    await stream.seat();
    await stream.finish();
    await within(over, "leaving");
    assert.equal(client.ended, 1);
  });
});

test("a game that was not announced makes no bot and is declined", async () => {
  let made = 0;
  class Counted implements Bot {
    readonly games = [offer().game?.id ?? ""];
    readonly decide = first;
    offered() {
      made += 1;
    }
  }
  await withArena(async (arena) => {
    arena.connect(Counted);
    const stream = await arena.stream();
    await stream.welcome();
    const game = { id: "elsewhere", rulesVersion: 1, variants: [] };
    stream.send({ $case: "matchOffer", matchOffer: offer({ matchId: "no", game }) });
    const { decline } = await stream.find("decline");
    assert.deepEqual([decline.matchId, decline.code], ["no", "game.not-announced"]);
    const plain = { id: offer().game?.id ?? "", rulesVersion: 1, variants: [] };
    await stream.seat({ game: plain });
    assert.equal(made, 1);
  });
});

test("a table that is not that of the offer is declined", async () => {
  await withArena(async (arena) => {
    arena.connect(first);
    const stream = await arena.stream();
    await stream.welcome();
    const table = { size: 3, hash: new Uint8Array(32) };
    stream.send({ $case: "matchOffer", matchOffer: offer({ table }) });
    assert.equal((await stream.find("decline")).decline.code, "game.other-table");
    const longer = { size: 4, hash: TABLE_HASH };
    stream.send({ $case: "matchOffer", matchOffer: offer({ matchId: "n", table: longer }) });
    assert.equal((await stream.find("decline")).decline.code, "game.other-table");
  });
});

test("a bot that needs no table is asked without one", async () => {
  class Indices implements Bot {
    readonly needsTable = false;
    decide(ask: Ask) {
      return ask.legalIndices.at(-1) ?? RESIGN;
    }
  }
  await withArena(async (arena) => {
    arena.connect(Indices);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    assert.deepEqual((await stream.ask()).choice, { $case: "index", index: 2 });
    assert.equal(arena.pages.length, 0);
  });
});

test("a class has an instance for each match, an object is shared", async () => {
  class Counting implements Bot {
    asked = 0;
    decide() {
      this.asked += 1;
      return this.asked;
    }
  }
  for (const [bot, expected] of [
    [Counting, 1],
    [new Counting(), 2],
  ] as const) {
    await withArena(async (arena) => {
      arena.connect(bot, { capacity: 2 });
      const stream = await arena.stream();
      await stream.welcome({ capacity: 2 });
      await stream.seat();
      await stream.seat({ matchId: "n" });
      await stream.ask();
      const second = await stream.ask({ matchId: "n" });
      assert.deepEqual(second.choice, { $case: "index", index: expected });
    });
  }
});

test("a nonce is sent where one is wanted, and the deal is checked at the end", async () => {
  const seed = sha256("seed");
  const salt = sha256("salt");
  const options = MSGPACK.encode({ width: 3 });
  const hash = commitment("fritillary-deal-1", "m", options, seed, salt);
  const given = new Uint8Array([1, 2, 3]);
  for (const nonce of [undefined, given]) {
    for (const honest of [true, false]) {
      const deals = new Mailbox<string>();
      class Watching implements Bot {
        decide = first;
        end(outcome: Outcome) {
          deals.put(outcome.deal);
        }
      }
      await withArena(async (arena) => {
        arena.connect(Watching, { nonce });
        const stream = await arena.stream();
        await stream.welcome();
        const accept = await stream.seat({
          nonceWanted: true,
          botSeed: botSeed(seed, 0),
          commitment: { algorithm: "fritillary-deal-1", hash },
        });
        assert.equal(accept.nonce.length, nonce ? 3 : 16);
        if (nonce) assert.deepEqual(new Uint8Array(accept.nonce), nonce);
        const used = honest ? accept.nonce : new Uint8Array();
        await stream.finish({ reveal: { seed, salt, nonces: [used, new Uint8Array()] } });
        assert.equal(await deals.next("the end"), honest ? "verified" : "broken");
      });
    }
  }
});
