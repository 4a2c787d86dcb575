/** What can be said about a bot and its connection, and what cannot. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { type Bot, Client, ConfigurationError, type Settings } from "fritillary-client";
import { adviceOf, endpointOf } from "../src/endpoint.js";
import { refusalOf, resolve } from "../src/settings.js";
import { offer } from "./arena.js";

const GIVEN = { address: "127.0.0.1:1", token: "t" };
const decide = () => 0;

function isCode(code: string): (error: unknown) => boolean {
  return (error) => error instanceof ConfigurationError && error.code === code;
}

const wrong: [string, Settings, string][] = [
  ["no address", { address: "" }, "usage.address"],
  ["an address without a port", { address: "localhost" }, "usage.address"],
  ["a port that is none", { address: "localhost:65536" }, "usage.address"],
  ["port 0", { address: "localhost:0" }, "usage.address"],
  ["IPv6 without brackets", { address: "::1:7551" }, "usage.address"],
  ["a URL", { address: "http://localhost:1" }, "usage.address"],
  ["no token", { token: " " }, "usage.token"],
  ["a token of two words", { token: "a b" }, "usage.token"],
  ["no capacity", { capacity: 0 }, "usage.capacity"],
  ["half a match", { matches: 0.5 }, "usage.capacity"],
  ["an unknown encoding", { encoding: "xml" as "json" }, "usage.encoding"],
  ["an unknown form", { legal: "toString" as "packed" }, "usage.legal"],
  ["an unknown way out", { onError: "cry" as "stop" }, "usage.on-error"],
  ["a nonce that is too long", { nonce: new Uint8Array(33) }, "usage.nonce"],
  ["no patience at all", { giveUpAfterMs: Number.NaN }, "usage.patience"],
  ["files for TLS without it", { tls: false, ca: "x" }, "usage.tls"],
  ["files that are not there", { ca: "/nowhere/at.all" }, "usage.ca"],
  ["a certificate without its key", { cert: "x" }, "usage.tls"],
];

for (const [what, settings, code] of wrong) {
  test(`refused: ${what}`, () => {
    assert.throws(() => new Client(decide, { ...GIVEN, ...settings }), isCode(code));
  });
}

test("refused: what is no bot", () => {
  class Nothing {}
  for (const bot of [undefined, {}, 4, Nothing]) {
    assert.throws(() => new Client(bot as unknown as Bot, GIVEN), isCode("usage.bot"));
  }
});

test("address and token may come from the environment", () => {
  process.env["FRITILLARY_ADDRESS"] = "localhost:7";
  process.env["FRITILLARY_TOKEN"] = "secret";
  try {
    const { address, token } = endpointOf({});
    assert.deepEqual([address, token], ["localhost:7", "secret"]);
    assert.equal(endpointOf({ address: "localhost:8" }).address, "localhost:8");
  } finally {
    delete process.env["FRITILLARY_ADDRESS"];
    delete process.env["FRITILLARY_TOKEN"];
  }
});

test("this machine is spoken to plainly, others in TLS", () => {
  const addresses = [
    "localhost:1",
    "127.1.2.3:1",
    "[::1]:1",
    "unix:/x",
    "arena.example:1",
    "10.0.0.1:1",
  ];
  assert.deepEqual(
    addresses.map((address) => endpointOf({ address, token: "t" }).tls),
    [false, false, false, false, true, true],
  );
  assert.equal(endpointOf({ address: "arena.example:1", token: "t", tls: false }).tls, false);
  assert.equal(endpointOf({ address: "localhost:1", token: "t", tls: true }).tls, true);
});

test("a bot's name, games and build have defaults", () => {
  class Clever implements Bot {
    readonly games = ["lepidoptery+no-pass", { game: "lost-cities", anyVariant: true }];
    decide = decide;
  }
  const setup = resolve(Clever, GIVEN);
  assert.equal(setup.info.name, "Clever");
  assert.match(setup.info.build, /^[0-9a-f]{16}$/);
  assert.deepEqual(setup.games, [
    { game: "lepidoptery", rulesVersions: [], variants: ["no-pass"], anyVariant: false },
    { game: "lost-cities", rulesVersions: [], variants: [], anyVariant: true },
  ]);
  assert.deepEqual(resolve(Clever, { ...GIVEN, games: [] }).games, []);
  assert.equal(resolve(decide, GIVEN).info.name, "settings.test");
  assert.equal(resolve(decide, { ...GIVEN, name: "n".repeat(70) }).info.name.length, 64);
});

test("a class has made one bot when it has played its first match", () => {
  let made = 0;
  class Costly implements Bot {
    decide = decide;
    constructor() {
      made += 1;
    }
  }
  const { source } = resolve(Costly, GIVEN);
  const [one, two] = [source.make(), source.make()];
  assert.notEqual(one, two);
  assert.equal(made, 2);
});

let folder = "";
const file = (name: string) => join(folder, name);

before(() => {
  folder = mkdtempSync(join(tmpdir(), "fritillary-"));
  for (const name of ["a", "b"]) {
    const kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
    const files = ["-keyout", file(`${name}.key`), "-out", file(`${name}.pem`)];
    const args = ["req", "-x509", ...kind, "-days", "2", ...files, "-subj", `/CN=${name}`];
    execFileSync("openssl", args, { stdio: "ignore" });
  }
  const cut = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  writeFileSync(file("cut.pem"), cut);
});

after(() => rmSync(folder, { recursive: true }));

test("files for TLS mean TLS, also on this machine", () => {
  const [ca, cert, key] = [file("a.pem"), file("b.pem"), file("b.key")];
  const trusting = endpointOf({ ...GIVEN, ca });
  assert.equal(trusting.tls, true);
  assert.match(trusting.roots ?? "", /BEGIN CERTIFICATE/);
  assert.match(adviceOf(trusting), /client certificate, set FRITILLARY_CERT/);
  const shown = endpointOf({ ...GIVEN, ca, cert, key });
  assert.match(shown.key ?? "", /PRIVATE KEY/);
  assert.match(adviceOf(shown), /may not trust/);
});

test("files for TLS that cannot be used are told by name", () => {
  const told = (settings: Settings): string => {
    try {
      endpointOf({ ...GIVEN, ...settings });
    } catch (error) {
      assert.ok(isCode("usage.tls")(error));
      return (error as Error).message.replaceAll(`${folder}/`, "");
    }
    return assert.fail();
  };
  const key = file("a.key");
  assert.equal(told({ ca: key }), "certificate a.key: holds a key where a certificate is wanted");
  assert.match(told({ ca: file("cut.pem") }), /cut.pem: holds a certificate that cannot be read/);
  assert.equal(
    told({ cert: file("b.pem"), key }),
    "key a.key does not belong to certificate b.pem",
  );
  assert.match(told({ cert: file("a.pem"), key: file("a.pem") }), /a.pem: holds no private key/);
});

test("only what was announced is played", () => {
  const any = { game: "nim", anyVariant: true };
  const cases: [Settings["games"] & {}, string, boolean][] = [
    [[], "nim+long", true],
    [["nim"], "nim", true],
    [["nim"], "go", false],
    [["go", "nim"], "nim", true],
    [["nim"], "nim+long", false],
    [["nim+long"], "nim", true],
    [["nim+long"], "nim+long", true],
    [["nim+long"], "nim+long+short", false],
    [[any], "nim+long", true],
    [[{ ...any, rulesVersions: [1, 3] }], "nim", true],
    [[{ ...any, rulesVersions: [1, 2] }], "nim", false],
    [["somebody:nim"], "nim", true],
    [["nim"], "somebody:nim", true],
  ];
  for (const [games, fullId, covered] of cases) {
    const [id = "", ...variants] = fullId.split("+");
    const game = {
      id,
      rulesVersion: 3,
      variants: variants.map((variant) => ({ id: variant, version: 1 })),
    };
    const refusal = refusalOf(resolve(decide, { ...GIVEN, games }).games, offer({ game }));
    const code = covered ? undefined : "game.not-announced";
    assert.equal(refusal?.code, code, `${JSON.stringify(games)}, ${fullId}`);
  }
});
