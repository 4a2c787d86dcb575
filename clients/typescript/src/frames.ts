/** Frames, which are lists of messages, to bytes and back. */

import { BinaryReader, type WireType } from "@bufbuild/protobuf/wire";
import { BotMessage, ConnectResponse, type ServerMessage } from "./gen/fritillary/api/v1/bot.js";

/** What decodes a message of the wire. */
export interface Decoder<T> {
  decode(reader: BinaryReader): T;
}

const TO_TEXT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The tag of `messages` in a frame: field 1, with a length. */
const TAG = 0x0a;

/** Refuses what the reader of the library lets pass: bad UTF-8, and fields of number 0. */
class StrictReader extends BinaryReader {
  readonly #raw: Uint8Array;

  constructor(raw: Uint8Array) {
    super(raw, (bytes) => TO_TEXT.decode(bytes));
    this.#raw = raw;
  }

  override skip(wireType: WireType, fieldNo?: number, recursionLimit?: number): Uint8Array {
    const [before = 0, tag = 0] = [this.#raw[this.pos - 2], this.#raw[this.pos - 1]];
    // A tag below 8 is of field 0, unless it is the last byte of a longer one.
    if (tag < 8 && before < 0x80) throw new Error("a field has the number 0");
    return super.skip(wireType, fieldNo, recursionLimit);
  }
}

/**
 * Return the message of some bytes.
 *
 * @throws {Error} if they are not such a message.
 */
export function decodeMessage<T>(kind: Decoder<T>, raw: Uint8Array): T {
  const reader = new StrictReader(raw);
  const message = kind.decode(reader);
  if (reader.pos !== raw.length) throw new Error("the message does not end where its bytes end");
  return message;
}

/**
 * Return the messages of a frame of the server.
 *
 * @throws {Error} if it is none.
 */
export function decodeFrame(raw: Uint8Array): ServerMessage[] {
  return decodeMessage(ConnectResponse, raw).messages;
}

/** Return a message as an entry of a frame: with its tag and length. */
export function entryOf(message: BotMessage["message"]): Uint8Array {
  const body = BotMessage.encode({ messageId: 0, message }).finish();
  const head = [TAG];
  let length = body.length;
  for (; length >= 0x80; length >>>= 7) head.push((length & 0x7f) | 0x80);
  head.push(length);
  const entry = new Uint8Array(head.length + body.length);
  entry.set(head);
  entry.set(body, head.length);
  return entry;
}
