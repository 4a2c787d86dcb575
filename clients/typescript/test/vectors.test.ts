/** The byte vectors that all clients share, and those of dealing. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { botSeed, checkDeal, commitment, streamSeed } from "../src/dealing.js";
import { JSON_TEXT, MSGPACK } from "../src/encoding.js";
import { ProtocolError } from "../src/errors.js";
import { type Decoder, decodeFrame, decodeMessage } from "../src/frames.js";
import { ConnectRequest, ConnectResponse } from "../src/gen/fritillary/api/v1/bot.js";
import { ListActionsResponse } from "../src/gen/fritillary/api/v1/catalog.js";

const GOLDEN = new URL("../../../../tests/golden/", import.meta.url);
const ENCODINGS = { msgpack: MSGPACK, json: JSON_TEXT };
type Name = keyof typeof ENCODINGS;
const NAMES = Object.keys(ENCODINGS) as Name[];

function golden<T>(name: string): T {
  return JSON.parse(readFileSync(new URL(name, GOLDEN), "utf8")) as T;
}

function unhex(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "hex"));
}

function hex(raw: Uint8Array): string {
  return Buffer.from(raw).toString("hex");
}

interface Payload {
  name: string;
  value: unknown;
  msgpack: string;
  json: string;
  exact: Name[];
}

const PAYLOADS = golden<{
  values: Payload[];
  binary: { name: string; bytes: string; msgpack: string }[];
  broken: Record<Name, Record<string, string>>;
}>("wire/payloads.json");

for (const payload of PAYLOADS.values) {
  for (const name of NAMES) {
    test(`payload ${payload.name} is decoded and encoded alike in ${name}`, () => {
      const encoding = ENCODINGS[name];
      const value = encoding.decode(unhex(payload[name]), "a payload");
      assert.deepEqual(value, payload.value);
      const again = encoding.encode(value);
      if (payload.exact.includes(name)) assert.equal(hex(again), payload[name]);
      assert.deepEqual(encoding.decode(again, "a payload"), payload.value);
    });
  }

  test(`payload ${payload.name} has the same MessagePack in both encodings`, () => {
    const [a, b] = NAMES.map((name) => ENCODINGS[name].msgpackOf(unhex(payload[name])));
    assert.deepEqual(MSGPACK.decode(b as Uint8Array, "a payload"), payload.value);
    if (payload.exact.includes("msgpack")) assert.equal(hex(a as Uint8Array), hex(b as Uint8Array));
  });
}

for (const { name, bytes, msgpack } of PAYLOADS.binary) {
  test(`binary of ${name} is decoded and encoded alike`, () => {
    const value = MSGPACK.decode(unhex(msgpack), "a payload") as unknown;
    assert.deepEqual(value, unhex(bytes));
    assert.equal(hex(MSGPACK.encode(value)), msgpack);
  });
}

for (const name of NAMES) {
  for (const [what, raw] of Object.entries(PAYLOADS.broken[name])) {
    test(`broken ${name} is refused: ${what}`, () => {
      assert.throws(
        () => ENCODINGS[name].decode(unhex(raw), "a payload"),
        (error) => error instanceof ProtocolError && error.code === `codec.${name}`,
      );
    });
  }
}

const FRAMES = golden<{
  frames: { name: string; type: string; hex: string; value: unknown; exact: boolean }[];
  broken: Record<string, string>;
}>("wire/frames.json");

interface Kind extends Decoder<unknown> {
  encode(message: unknown): { finish(): Uint8Array };
  fromJSON(object: unknown): unknown;
  toJSON(message: unknown): unknown;
}

const KINDS = { ConnectRequest, ConnectResponse, ListActionsResponse } as unknown as Record<
  string,
  Kind
>;

/** Return JSON with all numbers as texts: 64-bit integers are numbers here, texts there. */
function textual(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part) => (typeof part === "number" ? String(part) : part)),
  );
}

for (const frame of FRAMES.frames) {
  test(`a frame is decoded and encoded alike: ${frame.name}`, () => {
    const kind = KINDS[frame.type] as Kind;
    const message = decodeMessage(kind, unhex(frame.hex));
    assert.deepEqual(textual(kind.toJSON(message)), textual(frame.value));
    const again = kind.encode(message).finish();
    const made = kind.encode(kind.fromJSON(frame.value)).finish();
    assert.equal(hex(made), hex(again));
    if (frame.exact) assert.equal(hex(again), frame.hex);
    assert.deepEqual(decodeMessage(kind, again), message);
  });
}

for (const [what, raw] of Object.entries(FRAMES.broken)) {
  test(`a broken frame is refused: ${what}`, () => {
    assert.throws(() => decodeFrame(unhex(raw)));
  });
}

interface DealCase {
  name: string;
  match_id: string;
  seat: number;
  options_msgpack: string;
  options_json: string;
  algorithm: string | null;
  commitment: string | null;
  bot_seed: number;
  nonce_wanted: boolean;
  sent: string | null;
  seed: string | null;
  salt: string | null;
  nonces: string[] | null;
  deal: string;
}

for (const deal of golden<{ deals: DealCase[] }>("wire/deals.json").deals) {
  test(`a deal is judged: ${deal.name}`, () => {
    const hash = deal.commitment;
    const offer = {
      matchId: deal.match_id,
      seat: deal.seat,
      commitment:
        hash === null ? undefined : { algorithm: deal.algorithm ?? "", hash: unhex(hash) },
      nonceWanted: deal.nonce_wanted,
      botSeed: deal.bot_seed,
    };
    const reveal =
      deal.seed === null
        ? undefined
        : {
            seed: unhex(deal.seed),
            salt: unhex(deal.salt ?? ""),
            nonces: (deal.nonces ?? []).map(unhex),
          };
    const sent = deal.sent === null ? undefined : unhex(deal.sent);
    for (const name of NAMES) {
      const options = ENCODINGS[name].msgpackOf(unhex(deal[`options_${name}`]));
      assert.equal(checkDeal(offer, options, sent, reveal), deal.deal);
    }
  });
}

const DEALING = golden<{
  seed: string;
  labels: { labels: (string | number)[]; seed: string }[];
  commitment: { match_id: string; options: string; salt: string; hash: string };
  bot_seeds: [number, string][];
}>("dealing.json");
const SEED = unhex(DEALING.seed);

test("streams, bot seeds and commitments are those of the page on dealing", () => {
  for (const { labels, seed } of DEALING.labels) assert.equal(hex(streamSeed(SEED, labels)), seed);
  for (const [seat, seed] of DEALING.bot_seeds) assert.equal(String(botSeed(SEED, seat)), seed);
  const { match_id, options, salt, hash } = DEALING.commitment;
  const made = commitment("fritillary-deal-1", match_id, unhex(options), SEED, unhex(salt));
  assert.equal(hex(made), hash);
});
