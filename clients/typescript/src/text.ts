/** Text from elsewhere, as it may be shown or sent. */

/** So much of a text from the server is shown in one line. */
const SHOWN = 300;

/** Return text from elsewhere as it may be shown in one line of a terminal. */
export function shown(text: string): string {
  const clean = text.replace(/[^\P{C}\u200d]|[\p{Zl}\p{Zp}]/gu, "\ufffd");
  return clean.length <= SHOWN ? clean : `${clean.slice(0, SHOWN)}...`;
}

/** Return whether a string is Unicode text: without halves of surrogate pairs. */
export function isText(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

/** Return the longest beginning of a text that takes no more bytes of UTF-8. */
export function cutToBytes(text: string, most: number): string {
  const raw = new TextEncoder().encode(text);
  if (raw.length <= most) return new TextDecoder("utf-8", { ignoreBOM: true }).decode(raw);
  let end = most;
  // The middle of a character begins with the bits 10.
  while (end > 0 && ((raw[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(raw.subarray(0, end));
}

/** Return the sentence of whatever was thrown. */
export function sentenceOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return "something that cannot be shown";
  }
}
