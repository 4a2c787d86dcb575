/** Bots as programs: what they print, and with which status they end. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { type FakeArena, goodbye, offer, request, TOKEN, withArena, within } from "./arena.js";

const UNIFORM = fileURLToPath(new URL("../examples/uniform.js", import.meta.url));
const CONTRACT = fileURLToPath(new URL("../contract/bot.js", import.meta.url));

interface Ended {
  status: number | null;
  out: string;
  err: string;
}

function start(
  path: string,
  args: string[],
  environment: Record<string, string> = {},
): { child: ChildProcess; ended: Promise<Ended> } {
  const env = { PATH: process.env["PATH"] ?? "", ...environment };
  const child = spawn(process.execPath, [path, ...args], { env });
  let [out, err] = ["", ""];
  child.stdout.on("data", (data) => {
    out += String(data);
  });
  child.stderr.on("data", (data) => {
    err += String(data);
  });
  const ended = new Promise<Ended>((resolve) => {
    child.on("close", (status) => resolve({ status, out, err }));
  });
  return { child, ended: within(ended, "the end of the program") };
}

function dialIn(arena: FakeArena, path: string, args: string[] = []) {
  const { address } = arena;
  return start(path, args, { FRITILLARY_ADDRESS: address, FRITILLARY_TOKEN: TOKEN });
}

test("a program without address or server ends with one line and status 1", async () => {
  const none = await start(UNIFORM, []).ended;
  assert.equal(none.status, 1);
  const told = 'error: no server is named; set FRITILLARY_ADDRESS or give address: "HOST:PORT"';
  assert.equal(none.err, `${told} [usage.address]\n`);
  const { status, err } = await start(UNIFORM, ["--address", "127.0.0.1:1", "--token", "t"]).ended;
  assert.equal(status, 1);
  assert.match(err, /^error: no server answers at 127.0.0.1:1 \(.*\) \[link.unreachable\]\n$/);
});

test("wrong arguments end with status 2, help with 0", async () => {
  for (const args of [["--bogus"], ["extra"], ["--capacity", "0"]]) {
    const { status, err } = await start(UNIFORM, args).ended;
    assert.equal(status, 2);
    assert.match(err, /^error: [^\n]*\n$/);
  }
  const { status, out } = await start(UNIFORM, ["--help"]).ended;
  assert.equal(status, 0);
  assert.match(out, /--address HOST:PORT/);
});

test("a program plays its matches, tells what happened and ends with status 0", async () => {
  await withArena(async (arena) => {
    const { ended } = dialIn(arena, UNIFORM, ["--matches", "1", "--name", "mine"]);
    const stream = await arena.stream();
    const hello = await stream.welcome();
    assert.equal(hello.bot?.name, "mine");
    await stream.seat();
    await stream.ask();
    await stream.finish();
    const { status, err } = await ended;
    assert.equal(status, 0);
    assert.deepEqual(err.split("\n"), [
      `connected to ${arena.address} as test-bot (server 9.9)`,
      "match m, toy+small, seat 0: played, place 2 of 2, done",
      "",
    ]);
  });
});

test("the first interrupt waits for the matches in play, the second does not", async () => {
  for (const patient of [true, false]) {
    await withArena(async (arena) => {
      const { child, ended } = dialIn(arena, UNIFORM);
      const stream = await arena.stream();
      await stream.welcome();
      await stream.seat();
      child.kill("SIGINT");
      assert.equal((await stream.find("capacity")).capacity.matches, 0);
      if (patient) await stream.finish();
      else child.kill("SIGINT");
      await stream.find("goodbye");
      const { status, err } = await ended;
      assert.equal(status, patient ? 0 : 1);
      assert.match(err, patient ? /stopping when/ : /left 1 match unfinished\n$/);
    });
  }
});

test("the contract bot tells what happens, a line of JSON each", async () => {
  await withArena(async (arena) => {
    const task = { matches: 1, answer: "text", illegal: [1], nonce: "0a0b" };
    const { ended } = dialIn(arena, CONTRACT, [JSON.stringify(task)]);
    const stream = await arena.stream();
    await stream.welcome();
    const accept = await stream.seat({ nonceWanted: true });
    assert.equal(Buffer.from(accept.nonce).toString("hex"), "0a0b");
    assert.deepEqual((await stream.ask()).choice, { $case: "text", text: "no such action" });
    const { choice } = await stream.ask({ decisionId: 2, attempt: 2 });
    assert.deepEqual(choice, { $case: "text", text: "pass" });
    await stream.finish();
    const { status, out } = await ended;
    assert.equal(status, 0);
    const about = { match_id: "m", seat: 0 };
    const asked = { event: "asked", ...about, ply: 0, legal: 2, first: "pass", news: [] };
    const seen = { observation: { seen: [1, null] } };
    assert.deepEqual(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as unknown),
      [
        { event: "connected", bot: "test-bot", resumed: false },
        { event: "offered", ...about, resumed: false, game: "toy+small", nonce_wanted: true },
        { ...asked, ...seen, decision_id: 1, attempt: 1 },
        { ...asked, ...seen, decision_id: 2, attempt: 2 },
        {
          event: "ended",
          ...about,
          kind: "played",
          code: "",
          scores: [-3, 3],
          placing: [2, 1],
          deal: "not-revealed",
        },
        { event: "stopped" },
      ],
    );
  });
});

test("the contract bot declines, resigns and tells an error in one line", async () => {
  await withArena(async (arena) => {
    const { ended } = dialIn(arena, CONTRACT, [JSON.stringify({ decline: "toy" })]);
    const stream = await arena.stream();
    await stream.welcome();
    stream.send({ $case: "matchOffer", matchOffer: offer() });
    assert.equal((await stream.find("decline")).decline.code, "contract.declined");
    stream.send(goodbye("auth.revoked-token"));
    stream.end();
    const { status, err } = await ended;
    assert.deepEqual([status, err], [1, "error: so long [auth.revoked-token]\n"]);
  });
  await withArena(async (arena) => {
    const { child, ended } = dialIn(arena, CONTRACT, [JSON.stringify({ resign_at: 3 })]);
    const stream = await arena.stream();
    await stream.welcome();
    await stream.seat();
    stream.send({ $case: "decisionRequest", decisionRequest: request({ decisionId: 3 }) });
    assert.equal((await stream.find("resign")).resign.decisionId, 3);
    child.kill("SIGTERM");
    assert.equal((await stream.find("capacity")).capacity.matches, 0);
    child.kill("SIGTERM");
    const { status, err } = await ended;
    assert.deepEqual([status, err], [1, "error: left 1 match unfinished [bot.unfinished]\n"]);
  });
});
