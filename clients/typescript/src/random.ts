/** A generator of random numbers that gives the same ones for the same seed. */

import { createHash } from "node:crypto";

const TWO_32 = 2 ** 32;

/**
 * Random numbers for one decision: xoshiro128**, started from a hash of the bot's seed and
 * the decision. A bot that takes its chances from here alone chooses the same again, also
 * after it was started anew. It is no source of secrets.
 */
export class Random {
  readonly #state: Uint32Array;

  /**
   * @param seed a number below 2^53.
   * @param stream which of the generators of that seed: the decision's id.
   */
  constructor(seed: number, stream = 0) {
    const hash = createHash("sha256").update(`fritillary-client ${seed} ${stream}`).digest();
    this.#state = new Uint32Array([0, 4, 8, 12].map((at) => hash.readUInt32LE(at)));
  }

  /** Return a number of 0 to 2^32 - 1. */
  bits(): number {
    const state = this.#state as unknown as [number, number, number, number];
    const product = Math.imul(state[1], 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = state[1] << 9;
    state[2] ^= state[0];
    state[3] ^= state[1];
    state[1] ^= state[2];
    state[0] ^= state[3];
    state[2] ^= shifted;
    state[3] = (state[3] << 11) | (state[3] >>> 21);
    return result;
  }

  /** Return a number from 0 up to, not including, 1. */
  next(): number {
    return ((this.bits() >>> 5) * 2 ** 26 + (this.bits() >>> 6)) / 2 ** 53;
  }

  /**
   * Return an integer from 0 to n - 1, each equally likely.
   *
   * @param n 1 to 2^32.
   * @throws {RangeError} if it is not.
   */
  below(n: number): number {
    if (!Number.isInteger(n) || n < 1 || n > TWO_32) {
      throw new RangeError(`below() takes an integer of 1 to 2^32, not ${n}`);
    }
    const fair = TWO_32 - (TWO_32 % n);
    let drawn = this.bits();
    while (drawn >= fair) drawn = this.bits();
    return drawn % n;
  }

  /**
   * Return one of some items.
   *
   * @throws {RangeError} if there are none.
   */
  choice<T>(items: ArrayLike<T>): T {
    return items[this.below(items.length)] as T;
  }

  /** Bring items into random order, in place, and return them. */
  shuffle<T>(items: T[]): T[] {
    for (let i = items.length - 1; i > 0; i -= 1) {
      const j = this.below(i + 1);
      [items[i], items[j]] = [items[j] as T, items[i] as T];
    }
    return items;
  }
}
