/** Options, observations and actions as bytes, in either encoding of the wire. */

import { ConfigurationError, ProtocolError } from "./errors.js";
import { Encoding as Numbers } from "./gen/fritillary/api/v1/common.js";
import { checkPlain, type Data, decode as fromMsgpack, encode as toMsgpack } from "./msgpack.js";
import { sentenceOf } from "./text.js";

/** One way of writing data as bytes. */
export interface Encoding {
  readonly name: "msgpack" | "json";
  /** Of the encoding in the protocol. */
  readonly number: Numbers;
  /**
   * Return the bytes of data.
   *
   * @throws {TypeError} if it is no plain data.
   */
  encode(data: unknown): Uint8Array;
  /**
   * Return the data of bytes from the server.
   *
   * @throws {ProtocolError} if they cannot be read; `what` says what they are.
   */
  decode(raw: Uint8Array, what: string): Data;
  /** Return the same value in MessagePack, with its keys in the same order. */
  msgpackOf(raw: Uint8Array): Uint8Array;
}

const TO_TEXT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function made(
  name: Encoding["name"],
  number: Numbers,
  encode: (data: unknown) => Uint8Array,
  decode: (raw: Uint8Array) => Data,
  msgpackOf: (raw: Uint8Array) => Uint8Array,
): Encoding {
  const read = (raw: Uint8Array, what: string) => {
    try {
      return decode(raw);
    } catch (error) {
      const message = `the server sent ${what} that is not ${name}: ${sentenceOf(error)}`;
      throw new ProtocolError(message, { code: `codec.${name}`, cause: error });
    }
  };
  return { name, number, encode, decode: read, msgpackOf };
}

function toJson(data: unknown): Uint8Array {
  checkPlain(data);
  return new TextEncoder().encode(JSON.stringify(data));
}

function fromJson(raw: Uint8Array): Data {
  const text = TO_TEXT.decode(raw);
  const data = JSON.parse(text) as Data;
  // JSON.parse rounds what it cannot hold, and says nothing.
  if (/\d{16}/.test(text)) checkPlain(data);
  return data;
}

/** MessagePack: compact and quick. */
export const MSGPACK = made(
  "msgpack",
  Numbers.ENCODING_MSGPACK,
  toMsgpack,
  fromMsgpack,
  (raw) => raw,
);

/** JSON text in UTF-8. */
export const JSON_TEXT = made("json", Numbers.ENCODING_JSON, toJson, fromJson, (raw) =>
  toMsgpack(inOrder(TO_TEXT.decode(raw))),
);

const ALL = [MSGPACK, JSON_TEXT];

/**
 * Return an encoding by name.
 *
 * @throws {ConfigurationError} if there is none.
 */
export function named(name: string): Encoding {
  const found = ALL.find((each) => each.name === name);
  if (found) return found;
  const message = `no encoding '${name}'; say ${ALL.map((each) => each.name).join(" or ")}`;
  throw new ConfigurationError(message, { code: "usage.encoding" });
}

/**
 * Return an encoding by its number in the protocol.
 *
 * @throws {ProtocolError} if this client does not know it.
 */
export function numbered(number: Numbers): Encoding {
  const found = ALL.find((each) => each.number === number);
  if (found) return found;
  const message = `the server uses encoding ${number}, which this client does not know`;
  throw new ProtocolError(message, { code: "encoding.unknown" });
}

/**
 * Return the value of JSON text with a `Map` for each object: JavaScript's own objects put
 * keys that look like numbers before all others.
 *
 * @throws {SyntaxError} if the text is not JSON.
 */
function inOrder(text: string): unknown {
  JSON.parse(text); // from here on the text is known to be right
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\]]|[^\s,:{}[\]"]+/g) ?? [];
  let at = 0;
  const next = (): unknown => {
    const token = tokens[at++] as string;
    if (token === "[") {
      const list: unknown[] = [];
      while (tokens[at] !== "]") list.push(next());
      at += 1;
      return list;
    }
    if (token === "{") {
      const map = new Map<unknown, unknown>();
      while (tokens[at] !== "}") map.set(next(), next());
      at += 1;
      return map;
    }
    return JSON.parse(token) as unknown;
  };
  return next();
}
