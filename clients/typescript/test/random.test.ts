/** Random numbers: the same for the same seed, and fair. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { Random } from "fritillary-client";

test("a seed and a stream give the same numbers, others others", () => {
  const draw = (seed: number, stream: number) => {
    const random = new Random(seed, stream);
    return [random.bits(), random.below(1000), random.next()];
  };
  assert.deepEqual(draw(5, 1), draw(5, 1));
  assert.notDeepEqual(draw(5, 1), draw(5, 2));
  assert.notDeepEqual(draw(5, 1), draw(6, 1));
  // Written down, so that a bot chooses the same again after an update of this library.
  assert.deepEqual(draw(2 ** 53 - 1, 7), WRITTEN);
});

test("all numbers below a bound are drawn, and equally often", () => {
  const random = new Random(1);
  const counts = new Array<number>(6).fill(0);
  for (let i = 0; i < 60_000; i += 1) {
    const drawn = random.below(6);
    counts[drawn] = (counts[drawn] ?? 0) + 1;
  }
  assert.equal(counts.length, 6);
  // Ten standard deviations: the seed is fixed, so this holds or does not.
  for (const count of counts) assert.ok(Math.abs(count - 10_000) < 1000, String(counts));
});

test("fractions lie from 0 up to 1 and fill the range", () => {
  const random = new Random(2);
  const drawn = Array.from({ length: 10_000 }, () => random.next());
  assert.ok(drawn.every((each) => each >= 0 && each < 1));
  assert.ok(Math.min(...drawn) < 0.01 && Math.max(...drawn) > 0.99);
  const mean = drawn.reduce((a, b) => a + b) / drawn.length;
  assert.ok(Math.abs(mean - 0.5) < 0.02);
});

test("a shuffle keeps all items and every order occurs", () => {
  const random = new Random(3);
  const orders = new Set<string>();
  for (let i = 0; i < 500; i += 1) orders.add(random.shuffle([1, 2, 3, 4]).join(""));
  assert.equal(orders.size, 24);
});

test("a bound that cannot be is refused, and so is a choice from nothing", () => {
  const random = new Random(4);
  for (const bound of [0, -1, 1.5, 2 ** 32 + 1, Number.NaN]) {
    assert.throws(() => random.below(bound), RangeError);
  }
  assert.throws(() => random.choice([]), RangeError);
  assert.equal(random.below(1), 0);
  assert.ok(random.below(2 ** 32) >= 0);
});

const WRITTEN = [1028220888, 854, 0.7333641481787656];
