/** What a bot is asked and told in a match. */

import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Answer,
  type Ask,
  type Bot,
  Decision,
  type MatchInfo,
  type Outcome,
  RESIGN,
} from "fritillary-client";
import { common, bot as wire } from "fritillary-client/wire";
import { JSON_TEXT } from "../src/encoding.js";
import { acted, actionOf, closed, first, Mailbox, request, withArena, within } from "./arena.js";

for (const light of [true, false]) {
  const where = light ? "in one thread" : "with the link in a thread of its own";

  test(`a match is played from the offer to the end, ${where}`, async () => {
    const asks: Ask[] = [];
    const infos: MatchInfo[] = [];
    const outcomes: Outcome[] = [];
    class Watching implements Bot {
      readonly games = ["toy+small"];
      start(info: MatchInfo) {
        infos.push(info);
      }
      decide(ask: Ask) {
        asks.push(ask);
        return first(ask);
      }
      end(outcome: Outcome) {
        outcomes.push(outcome);
      }
    }
    await withArena(async (arena) => {
      const { client, over } = arena.connect(Watching, { light, matches: 1, version: "1.2" });
      const stream = await arena.stream();
      assert.equal(stream.token, "Bearer frt_bot_test");
      const hello = await stream.welcome();
      assert.deepEqual(
        hello.games.map(({ game, variants }) => [game, variants]),
        [["toy", ["small"]]],
      );
      assert.equal(hello.bot?.name, "Watching");
      assert.equal(hello.bot?.version, "1.2");
      assert.match(hello.bot?.build ?? "", /^[0-9a-f]{16}$/);
      assert.equal(hello.capacity, 1);
      const accept = await stream.seat();
      assert.equal(accept.nonce.length, 0);
      assert.deepEqual(
        arena.pages.map(({ game, seats }) => [game, seats]),
        [
          ["toy+small", 2],
          ["toy+small", 2],
        ],
      );
      const one = await stream.ask();
      assert.deepEqual(one.choice, { $case: "index", index: 0 });
      assert.equal(one.decisionId, 1);
      stream.send(acted(1), acted(2), closed(1));
      await stream.ask({ decisionId: 2, ply: 2, eventNumber: 2 });
      const ack = await stream.finish();
      assert.equal(ack.eventNumber, 2);
      assert.equal(ack.closedDecisionId, 1);
      await stream.find("goodbye");
      await within(over, "leaving");
      assert.equal(client.ended, 1);
      assert.equal(client.abandoned, 0);
      assert.equal(client.botName, "test-bot");
    });
    const [info] = infos;
    assert.equal(info?.fullId, "toy+small");
    assert.deepEqual(info?.options, { width: 3 });
    assert.equal(info?.seed, 2 ** 53 - 1);
    assert.equal(info?.players[1]?.author, "c");
    assert.equal(info?.players[0]?.clock.moveMs, 5000);
    const [one, two] = asks;
    assert.deepEqual(one?.observation, { seen: [1, null] });
    assert.deepEqual(
      one?.legal.map(({ index, text, action }) => [index, text, action]),
      [
        [0, "pass", { type: "pass" }],
        [2, "right", { type: "right" }],
      ],
    );
    assert.deepEqual(one?.events, []);
    assert.deepEqual(
      two?.events.map(({ number, text, source, seat }) => [number, text, source, seat]),
      [
        [1, "left", "player", 1],
        [2, "left", "player", 1],
      ],
    );
    assert.ok((one?.timeLeftMs() ?? 0) < 5000);
    const [outcome] = outcomes;
    assert.deepEqual([outcome?.kind, outcome?.reason, outcome?.score], ["played", "done", -3]);
    assert.deepEqual([outcome?.place, outcome?.deal], [2, "not-revealed"]);
  });

  test(`matches on one stream do not wait for each other, ${where}`, async () => {
    let letGo = () => {};
    const free = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    const decide = async (ask: Ask) => {
      if (ask.info.matchId === "slow") await free;
      return first(ask);
    };
    await withArena(async (arena) => {
      arena.connect(decide, { light, capacity: 2 });
      const stream = await arena.stream();
      assert.equal((await stream.welcome({ capacity: 2 })).capacity, 2);
      await stream.seat({ matchId: "slow" });
      await stream.seat({ matchId: "quick" });
      assert.equal(arena.pages.length, 2, "the table is fetched once");
      stream.send({ $case: "decisionRequest", decisionRequest: request({ matchId: "slow" }) });
      assert.equal((await stream.ask({ matchId: "quick" })).matchId, "quick");
      letGo();
      assert.equal((await stream.find("decision")).decision.matchId, "slow");
    });
  });
}

test("a bot that does not let go of its thread neither starves the link nor misses a closing", async () => {
  const seen = new Mailbox<boolean>();
  const decide = (ask: Ask) => {
    const until = Date.now() + 60_000;
    while (!ask.closed && Date.now() < until);
    seen.put(ask.closed);
    return first(ask);
  };
  await withArena(async (arena) => {
    arena.connect(decide);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    // The server is in the bot's thread here: it must have said all before the bot thinks.
    stream.send(closed(1), { $case: "ping", ping: { id: 5 } });
    assert.equal(await seen.next("the closing"), true);
    assert.equal((await stream.find("pong")).pong.id, 5);
  });
});

test("JSON and expanded actions are read as MessagePack and packed ones are", async () => {
  const asks: Ask[] = [];
  const decide = (ask: Ask) => {
    asks.push(ask);
    return ask.legal[1]?.action ?? RESIGN;
  };
  await withArena(async (arena) => {
    arena.connect(decide, { encoding: "json", legal: "expanded" });
    const stream = await arena.stream();
    const hello = await stream.welcome();
    assert.equal(hello.encoding, common.Encoding.ENCODING_JSON);
    assert.equal(hello.legalForm, wire.LegalForm.LEGAL_FORM_EXPANDED);
    await stream.seat({ options: JSON_TEXT.encode({ width: 4 }) });
    assert.equal(arena.pages.length, 0);
    const legalActions = [0, 1].map((index) => ({
      index,
      text: `t${index}`,
      action: JSON_TEXT.encode({ type: "move", to: index }),
    }));
    const observation = JSON_TEXT.encode({ seen: "蝶" });
    const decision = await stream.ask({ legal: [0, 1], legalActions, observation });
    assert.equal(decision.choice?.$case, "action");
    const raw = decision.choice?.$case === "action" ? decision.choice.action : new Uint8Array();
    assert.deepEqual(JSON_TEXT.decode(raw, "it"), { type: "move", to: 1 });
    assert.deepEqual(asks[0]?.observation, { seen: "蝶" });
    assert.deepEqual(asks[0]?.options, { width: 4 });
  });
});

test("all forms of answers reach the server", async () => {
  const answers: Answer[] = [
    2,
    "right",
    { type: "right" },
    new Decision("right", { note: "why not, my very long friend", probabilities: [0.25, 0.75] }),
    RESIGN,
  ];
  await withArena(async (arena) => {
    arena.connect((ask: Ask) => answers[ask.decisionId - 1] ?? RESIGN);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    const choices = [];
    for (const decisionId of [1, 2, 3, 4]) choices.push(await stream.ask({ decisionId }));
    assert.deepEqual(choices[0]?.choice, { $case: "index", index: 2 });
    assert.deepEqual(choices[1]?.choice, { $case: "text", text: "right" });
    assert.deepEqual(choices[2]?.choice, {
      $case: "action",
      action: Buffer.from(actionOf("right")),
    });
    assert.deepEqual(choices[3]?.choice, { $case: "text", text: "right" });
    assert.equal(choices[3]?.note, "why not, my very lon");
    assert.deepEqual(choices[3]?.probabilities, [0.25, 0.75]);
    stream.send({ $case: "decisionRequest", decisionRequest: request({ decisionId: 5 }) });
    assert.equal((await stream.find("resign")).resign.decisionId, 5);
  });
});

test("the same decision brings the same random numbers, another one others", async () => {
  const drawn: number[] = [];
  const decide = (ask: Ask) => {
    drawn.push(ask.random.bits());
    return first(ask);
  };
  for (const _ of [1, 2]) {
    await withArena(async (arena) => {
      arena.connect(decide);
      const stream = await arena.stream();
      await stream.welcome();
      await stream.seat();
      await stream.ask({ decisionId: 4 });
      await stream.ask({ decisionId: 5 });
    });
  }
  assert.equal(drawn.length, 4);
  assert.equal(drawn[0], drawn[2]);
  assert.equal(drawn[1], drawn[3]);
  assert.notEqual(drawn[0], drawn[1]);
});

test("a retry tells the attempt and what was wrong", async () => {
  const asks: Ask[] = [];
  const decide = (ask: Ask) => {
    asks.push(ask);
    return first(ask);
  };
  await withArena(async (arena) => {
    arena.connect(decide);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    await stream.ask();
    const error = { code: "action.illegal", message: "no" };
    await stream.ask({ decisionId: 2, attempt: 2, error });
    assert.deepEqual([asks[0]?.attempt, asks[0]?.error], [1, undefined]);
    assert.deepEqual([asks[1]?.attempt, asks[1]?.error], [2, error]);
  });
});

test("a decision that was closed is neither asked nor answered, and the bot is told", async () => {
  const asks = new Mailbox<Ask>();
  const decide = async (ask: Ask) => {
    asks.put(ask);
    if (ask.decisionId === 1) {
      await new Promise((resolve) => ask.signal.addEventListener("abort", resolve));
    }
    return first(ask);
  };
  await withArena(async (arena) => {
    arena.connect(decide);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    const ask = await asks.next("an ask");
    assert.equal(ask.closed, false);
    stream.send(
      closed(1),
      { $case: "decisionRequest", decisionRequest: request({ decisionId: 2 }) },
      closed(2),
    );
    const decision = await stream.ask({ decisionId: 3 });
    assert.equal(decision.decisionId, 3);
    assert.equal(ask.closed, true);
    assert.equal((await asks.next("an ask")).decisionId, 3);
    assert.equal(asks.size, 0);
  });
});

test("a request that comes again is answered again and not asked again", async () => {
  let asked = 0;
  const decide = (ask: Ask) => {
    asked += 1;
    return first(ask);
  };
  await withArena(async (arena) => {
    arena.connect(decide);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    const one = await stream.ask();
    assert.deepEqual(await stream.ask(), one);
    await stream.ask({ decisionId: 2 });
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    await stream.ask({ decisionId: 3 });
    assert.equal(asked, 3);
  });
});

test("events that come again are dropped", async () => {
  const news: number[][] = [];
  const decide = (ask: Ask) => {
    news.push(ask.events.map((event) => event.number));
    return first(ask);
  };
  await withArena(async (arena) => {
    arena.connect(decide);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send(acted(1), acted(2), acted(1), acted(2), acted(3));
    await stream.ask();
    stream.send(acted(3), acted(4));
    await stream.ask({ decisionId: 2 });
    assert.deepEqual(news, [[1, 2, 3], [4]]);
  });
});
