/** The link: refusals, losses, resuming, pings, limits. */

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { status as Status } from "@grpc/grpc-js";
import { type Ask, LinkError, ProtocolError, RefusedError } from "fritillary-client";
import { common } from "fritillary-client/wire";
import {
  acted,
  closed,
  FakeArena,
  first,
  goodbye,
  limits,
  offer,
  request,
  result,
  TOKEN,
  withArena,
  within,
} from "./arena.js";

for (const light of [true, false]) {
  const where = light ? "in one thread" : "with the link in a thread of its own";

  test(`a lost link is resumed, and nothing is decided twice, ${where}`, async () => {
    const asked: [number, number[]][] = [];
    const decide = (ask: Ask) => {
      asked.push([ask.decisionId, ask.events.map((event) => event.number)]);
      return first(ask);
    };
    await withArena(async (arena) => {
      const { client } = arena.connect(decide, { light });
      const told: string[] = [];
      client.on("connected", ({ resumed }) => told.push(`connected ${resumed}`));
      client.on("lost", ({ code }) => told.push(code));
      const stream = await arena.stream();
      await stream.welcome();
      await stream.seat();
      stream.send(acted(1));
      const answer = await stream.ask();
      stream.send(closed(1), acted(2));
      const second = await stream.ask({ decisionId: 2 });
      arena.cut();
      await arena.start();
      const again = await arena.stream();
      const hello = await again.welcome({ resumed: true });
      assert.equal(hello.sessionToken, "session");
      const [ack] = hello.acks;
      assert.deepEqual([ack?.matchId, ack?.eventNumber, ack?.closedDecisionId], ["m", 2, 1]);
      again.send(acted(1), acted(2), acted(3));
      assert.deepEqual(await again.ask({ decisionId: 2 }), second);
      const { thinkMs } = answer;
      const third = await again.ask({ decisionId: 3 });
      assert.deepEqual({ ...third, thinkMs }, { ...answer, decisionId: 3 });
      assert.deepEqual(asked, [
        [1, [1]],
        [2, [2]],
        [3, [3]],
      ]);
      assert.deepEqual(told, ["connected false", "link.lost", "connected true"]);
    });
  });

  test(`a refused token is one clear error, ${where}`, async () => {
    await withArena(async (arena) => {
      const { over } = arena.connect(first, { light });
      const stream = await arena.stream();
      const error = { code: "auth.revoked-token", message: "the token was revoked" };
      stream.abort(Status.UNAUTHENTICATED, "details", error);
      await assert.rejects(within(over, "the end"), (refusal) => {
        assert.ok(refusal instanceof RefusedError);
        assert.equal(String(refusal), "the token was revoked [auth.revoked-token]");
        return true;
      });
    });
  });

  test(`garbage is a protocol error, ${where}`, async () => {
    for (const garbage of ["0a04520208", "0a0662040a02c328", "0200"]) {
      await withArena(async (arena) => {
        const { over } = arena.connect(first, { light });
        const stream = await arena.stream();
        await stream.welcome();
        stream.raw(Buffer.from(garbage, "hex"));
        await assert.rejects(within(over, "the end"), ProtocolError);
      });
    }
  });
}

test("an offer or observation that cannot be read is a protocol error with its code", async () => {
  const decide = (ask: Ask) => String(ask.observation);
  for (const broken of ["offer", "observation"]) {
    await withArena(async (arena) => {
      const { over } = arena.connect(decide);
      const stream = await arena.stream();
      await stream.welcome();
      const raw = new Uint8Array([0xc1]);
      if (broken === "offer") {
        stream.send({ $case: "matchOffer", matchOffer: offer({ options: raw }) });
      } else {
        await stream.seat();
        stream.send({ $case: "decisionRequest", decisionRequest: request({ observation: raw }) });
      }
      const isCodec = (error: unknown) =>
        error instanceof ProtocolError && error.code === "codec.msgpack";
      await assert.rejects(within(over, "the end"), isCodec);
    });
  }
});

test("a message out of place is a protocol error", async () => {
  await withArena(async (arena) => {
    const { over } = arena.connect(first);
    const stream = await arena.stream();
    await stream.expect("hello");
    stream.send({ $case: "matchOffer", matchOffer: offer() });
    await assert.rejects(within(over, "the end"), /in place of Welcome/);
  });
});

test("a refusal that time mends is tried again, one that it does not is final", async () => {
  await withArena(async (arena) => {
    const { over } = arena.connect(first, { waitMs: 5000 });
    const refuse = async (retryAfterMs?: number) => {
      const stream = await arena.stream();
      await stream.expect("hello");
      const error = { code: "server.full", message: "full", retryAfterMs };
      stream.send({ $case: "refusal", refusal: { error } });
      stream.end();
    };
    await refuse(1);
    await refuse();
    const isFull = (error: unknown) =>
      error instanceof RefusedError && error.code === "server.full";
    await assert.rejects(within(over, "the end"), isFull);
  });
});

test("no server is a link error at once, unless there is patience", async () => {
  const arena = await new FakeArena().start();
  arena.cut();
  const { over } = arena.connect(first);
  await assert.rejects(within(over, "the end"), (error) => {
    assert.ok(error instanceof LinkError);
    const { port } = new URL(`http://${arena.address}`);
    const why = `no server answers at ${arena.address} (connect ECONNREFUSED 127.0.0.1:${port})`;
    assert.equal(String(error), `${why} [link.unreachable]`);
    return true;
  });
  const patient = arena.connect(first, { waitMs: 60_000 });
  await sleep(100);
  await arena.start();
  await (await arena.stream()).welcome();
  await arena.stop();
  await assert.rejects(patient.over, LinkError).catch(() => {});
});

test("something that is no arena is told", async () => {
  const server = createServer((socket) => socket.destroy());
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  const arena = new FakeArena();
  const { over } = arena.connect(first, { address: `127.0.0.1:${port}` });
  await assert.rejects(within(over, "the end"), /it closed the connection; if it speaks TLS/);
  server.close();
});

test("the client gives up when the link stays lost", async () => {
  await withArena(async (arena) => {
    const { over } = arena.connect(first, { giveUpAfterMs: 300 });
    await (await arena.stream()).welcome();
    arena.cut();
    await assert.rejects(within(over, "the end"), LinkError);
  });
});

test("a goodbye with a time to come back is obeyed, one without is final", async () => {
  await withArena(async (arena) => {
    const { client, over } = arena.connect(first);
    const stream = await arena.stream();
    await stream.welcome();
    const from = performance.now();
    stream.send(goodbye("server.stopping", 300));
    stream.end();
    const again = await arena.stream();
    assert.ok(performance.now() - from >= 300);
    await again.welcome({ resumed: true });
    again.send(goodbye("session.replaced"));
    again.end();
    await within(over, "the end");
    assert.equal(client.goodbye?.code, "session.replaced");
  });
});

test("a stream that does not end after a goodbye is left", async () => {
  await withArena(async (arena) => {
    const { client, over } = arena.connect(first);
    const stream = await arena.stream();
    await stream.welcome();
    stream.send(goodbye("server.stopping", 0));
    const again = await arena.stream();
    assert.equal((await again.welcome({ resumed: true })).sessionToken, "session");
    again.send(goodbye("session.replaced"));
    await within(over, "the end");
    assert.equal(client.goodbye?.code, "session.replaced");
  });
});

test("a goodbye that blames the bot is an error", async () => {
  await withArena(async (arena) => {
    const { over } = arena.connect(first);
    const stream = await arena.stream();
    await stream.welcome();
    stream.send(goodbye("limit.message-rate"));
    stream.end();
    const isLimit = (error: unknown) =>
      error instanceof RefusedError && error.code === "limit.message-rate";
    await assert.rejects(within(over, "the end"), isLimit);
  });
});

test("a session that cannot be resumed is begun anew, and its matches are lost", async () => {
  const ends: string[] = [];
  const bot = {
    decide: first,
    end: ({ kind, code }: { kind: string; code: string }) => void ends.push(`${kind} ${code}`),
  };
  await withArena(async (arena) => {
    arena.connect(bot);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    arena.cut();
    await arena.start();
    const refused = await arena.stream();
    assert.equal((await refused.expect("hello")).hello.sessionToken, "session");
    const error = { code: "session.other-build", message: "no" };
    refused.send({ $case: "refusal", refusal: { error } });
    refused.end();
    const anew = await arena.stream();
    const hello = await anew.welcome({ sessionToken: "other" });
    assert.deepEqual([hello.sessionToken, hello.acks], ["", []]);
    await anew.seat({ resumed: true });
    assert.deepEqual(ends, ["unknown link.lost"]);
  });
});

test("an offer, a status and an end that come again are answered again", async () => {
  await withArena(async (arena) => {
    arena.connect(first);
    const stream = await arena.stream();
    await stream.welcome();
    const one = await stream.seat({ nonceWanted: true });
    const two = await stream.seat({ nonceWanted: true, resumed: true });
    assert.deepEqual(two.nonce, one.nonce);
    const status = {
      matchId: "m",
      seat: 0,
      phase: common.MatchPhase.MATCH_PHASE_PREPARING,
      waitingFor: [0],
      eventNumber: 0,
      clocks: [],
      message: "",
    };
    stream.send({ $case: "matchStatus", matchStatus: status });
    await stream.expect("ready");
    await stream.finish();
    stream.send({ $case: "matchEnded", matchEnded: { matchId: "m", seat: 0, result: result() } });
    assert.equal((await stream.find("ack")).ack.ended, true);
  });
});

test("a ping is answered, and a silent server is pinged and then left", async () => {
  await withArena(async (arena) => {
    const { client } = arena.connect(first);
    const stream = await arena.stream();
    const keepalive = {
      pingAfterMs: 80,
      pongWithinMs: 2_000,
      http2IntervalMs: 1,
      http2TimeoutMs: 1,
    };
    await stream.welcome({ limits: limits({ keepalive }) });
    stream.send({ $case: "ping", ping: { id: 2 ** 53 - 1 } });
    assert.equal((await stream.find("pong")).pong.id, 2 ** 53 - 1);
    const { ping } = await stream.find("ping");
    stream.send({ $case: "pong", pong: { id: ping.id } });
    const lost = new Promise<string>((resolve) =>
      client.on("lost", ({ message }) => resolve(message)),
    );
    await stream.find("ping");
    assert.match(await within(lost, "the loss"), /silent for too long/);
    const again = await arena.stream();
    assert.equal((await again.welcome()).sessionToken, "session");
  });
});

test("frames keep to the limits of the server", async () => {
  await withArena(async (arena) => {
    const matches = Array.from({ length: 60 }, (_, number) => `match-${number}`);
    arena.connect((ask: Ask) => "x".repeat(40) + ask.ply, { capacity: 60 });
    const stream = await arena.stream();
    await stream.welcome({
      capacity: 60,
      limits: limits({ maxMessageBytes: 400, maxMessagesPerSecond: 600 }),
    });
    for (const matchId of matches) {
      stream.send({ $case: "matchOffer", matchOffer: offer({ matchId }) });
    }
    for (const _ of matches) await stream.find("ready");
    for (const matchId of matches) {
      stream.send({ $case: "decisionRequest", decisionRequest: request({ matchId }) });
    }
    for (const _ of matches) await stream.find("decision");
    const sizes = stream.frames.map((frame) =>
      frame.messages.reduce((sum, message) => {
        const decision =
          message.message?.$case === "decision" ? message.message.decision : undefined;
        return sum + (decision ? 60 : 10);
      }, 0),
    );
    assert.ok(Math.max(...sizes) <= 400);
    assert.ok(stream.frames.length < 130, "what is ready together travels together");
  });
});

test("an action too long to be sent is an error of the bot, a note is left out", async () => {
  await withArena(async (arena) => {
    const { over } = arena.connect(() => ({ type: "x".repeat(5000) }));
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send({ $case: "decisionRequest", decisionRequest: request() });
    await assert.rejects(within(over, "the end"), /an action of more than 4096 bytes/);
  });
});

test("a table is asked for again when the link was lost meanwhile", async () => {
  await withArena(async (arena) => {
    const { list } = arena;
    let failures = 1;
    arena.list = (asked) => {
      failures -= 1;
      if (failures >= 0) throw new Error("not now");
      return list(asked);
    };
    arena.connect(first);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    assert.equal(arena.pages.length, 3);
    assert.equal(stream.token, `Bearer ${TOKEN}`);
  });
});
