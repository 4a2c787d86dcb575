/** Whether the host dealt as it promised: `fritillary-deal-1`. */

import { createHash, createHmac } from "node:crypto";
import type { MatchOffer } from "./gen/fritillary/api/v1/bot.js";
import type { Reveal } from "./gen/fritillary/api/v1/common.js";

/** The algorithm that this client can check. */
export const ALGORITHM = "fritillary-deal-1";

/**
 * What is known of a deal: `verified` if seed and salt open the commitment of the offer and
 * the bot's own nonce and seed were used; `not-revealed` if there is nothing to check, or
 * not yet; `broken` if something does not fit.
 */
export type Deal = "verified" | "not-revealed" | "broken";

/** SHA-256 of the five fields of a commitment, each preceded by its length. */
export function commitment(
  algorithm: string,
  matchId: string,
  optionsMsgpack: Uint8Array,
  seed: Uint8Array,
  salt: Uint8Array,
): Uint8Array {
  const options = createHash("sha256").update(optionsMsgpack).digest();
  const hash = createHash("sha256");
  for (const field of [Buffer.from(algorithm), Buffer.from(matchId), options, seed, salt]) {
    hash.update(uint32(field.length)).update(field);
  }
  return hash.digest();
}

/** Return the seed of the stream of a name, which is a sequence of labels. */
export function streamSeed(seed: Uint8Array, labels: readonly (string | number)[]): Uint8Array {
  const mac = createHmac("sha256", seed).update("stream");
  for (const label of labels) {
    const body = Buffer.from(String(label));
    mac.update(typeof label === "string" ? "s" : "i");
    mac.update(uint32(body.length)).update(body);
  }
  return mac.digest();
}

/** Return the number that the bot of a seat is given, below 2^53. */
export function botSeed(seed: Uint8Array, seat: number): number {
  const stream = Buffer.from(streamSeed(seed, ["bot", seat]));
  return Number(stream.readBigUInt64BE() >> 11n);
}

/**
 * Say whether the host kept its promise.
 *
 * @param offer with the commitment.
 * @param optionsMsgpack the options of the offer in MessagePack, keys in their order.
 * @param sent the nonce that the bot sent; undefined where this program does not know.
 * @param reveal from the end of the match; undefined where it brought none.
 */
export function checkDeal(
  offer: Pick<MatchOffer, "matchId" | "seat" | "commitment" | "nonceWanted" | "botSeed">,
  optionsMsgpack: Uint8Array,
  sent: Uint8Array | undefined,
  reveal: Reveal | undefined,
): Deal {
  const promise = offer.commitment;
  if (!promise || !reveal) return "not-revealed";
  const { seed, salt, nonces } = reveal;
  if (promise.algorithm !== ALGORITHM || seed.length !== 32 || salt.length !== 32) return "broken";
  const opened = commitment(ALGORITHM, offer.matchId, optionsMsgpack, seed, salt);
  const used = nonces[offer.seat] ?? new Uint8Array();
  const kept =
    same(opened, promise.hash) &&
    botSeed(seed, offer.seat) === offer.botSeed &&
    (sent === undefined || same(used, sent));
  return kept ? "verified" : "broken";
}

function same(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

function uint32(number: number): Uint8Array {
  const raw = Buffer.alloc(4);
  raw.writeUInt32BE(number);
  return raw;
}
