/** The wait before a bot dials in again. */

import { type ArenaError, LinkError, RefusedError } from "./errors.js";

/** Back-off after a lost link; each wait is cut by a random part of up to one half. */
const FIRST_WAIT_MS = 200;
const LONGEST_WAIT_MS = 10_000;

/** A wait that can be cut short. */
export class Pause {
  #cut: (() => void) | undefined;

  /**
   * Wait before another try.
   *
   * @param tries that came to nothing before.
   * @param askedToWait what the server asked for, in milliseconds.
   */
  async wait(tries: number, askedToWait: number | undefined): Promise<void> {
    let wait = Math.min(FIRST_WAIT_MS * 2 ** Math.min(tries, 10), LONGEST_WAIT_MS);
    wait *= 0.5 + Math.random() / 2;
    // What the server asks for is the least; the rest spreads those who come.
    if (askedToWait !== undefined) wait += askedToWait * (1 + Math.random() / 2);
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, wait);
      this.#cut = () => {
        clearTimeout(timer);
        resolve();
      };
    });
    this.#cut = undefined;
  }

  /** End the wait, if there is one. */
  cut(): void {
    this.#cut?.();
  }
}

/** Return the error of a client that has tried for long enough. */
export function givenUp(error: LinkError | RefusedError, spentMs: number): ArenaError {
  const { code, retryAfterMs } = error;
  const message = `${error.message}; gave up after ${Math.round(spentMs / 1000)} s`;
  const made = error instanceof RefusedError ? RefusedError : LinkError;
  return new made(message, { code, retryAfterMs });
}
