/** A clock that only goes forward, the same in all threads. */

/** Return milliseconds since some moment in the past. */
export function nowMs(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}
