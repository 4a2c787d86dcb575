/**
 * MessagePack, strictly: what is no Unicode text, no exact number or no plain data is an
 * error, and keys such as `__proto__` are keys like any other.
 */

import { isText } from "./text.js";

/**
 * A value as it travels: null, booleans, integers below 2^53, strings, lists, and objects.
 * Its shape is in the JSON Schemas of the game.
 */
export type Data = null | boolean | number | string | Data[] | { [key: string]: Data };

/** Nested no deeper than this; the server allows 64. */
const MOST_DEPTH = 256;

const TO_TEXT = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const TO_BYTES = new TextEncoder();
const TWO_32 = 2 ** 32;

/**
 * Return the data of MessagePack bytes. Binary becomes a `Uint8Array`; games send none.
 *
 * @throws {Error} if they are not the MessagePack of exactly one value, or of one that
 *   JavaScript cannot hold exactly.
 */
export function decode(raw: Uint8Array): Data {
  const reader = new Reader(raw);
  const value = reader.value(0);
  if (reader.at !== raw.length) throw new Error("there is more than one value");
  return value;
}

class Reader {
  at = 0;
  readonly #raw: Uint8Array;
  readonly #view: DataView;

  constructor(raw: Uint8Array) {
    this.#raw = raw;
    this.#view = new DataView(raw.buffer, raw.byteOffset, raw.byteLength);
  }

  value(depth: number): Data {
    const first = this.#byte();
    if (first < 0x80) return first;
    if (first >= 0xe0) return first - 0x100;
    if (first < 0x90) return this.#map(first & 0x0f, depth);
    if (first < 0xa0) return this.#list(first & 0x0f, depth);
    if (first < 0xc0) return this.#text(first & 0x1f);
    switch (first) {
      case 0xc0:
        return null;
      case 0xc2:
        return false;
      case 0xc3:
        return true;
      case 0xc4:
        return this.#binary(this.#byte());
      case 0xc5:
        return this.#binary(this.#uint16());
      case 0xc6:
        return this.#binary(this.#uint32());
      case 0xca:
        return this.#view.getFloat32(this.#take(4));
      case 0xcb:
        return this.#view.getFloat64(this.#take(8));
      case 0xcc:
        return this.#byte();
      case 0xcd:
        return this.#uint16();
      case 0xce:
        return this.#uint32();
      case 0xcf:
        return this.#wide(this.#uint32());
      case 0xd0:
        return this.#view.getInt8(this.#take(1));
      case 0xd1:
        return this.#view.getInt16(this.#take(2));
      case 0xd2:
        return this.#int32();
      case 0xd3:
        return this.#wide(this.#int32());
      case 0xd9:
        return this.#text(this.#byte());
      case 0xda:
        return this.#text(this.#uint16());
      case 0xdb:
        return this.#text(this.#uint32());
      case 0xdc:
        return this.#list(this.#uint16(), depth);
      case 0xdd:
        return this.#list(this.#uint32(), depth);
      case 0xde:
        return this.#map(this.#uint16(), depth);
      case 0xdf:
        return this.#map(this.#uint32(), depth);
      default:
        throw new Error(`byte 0x${first.toString(16)} begins no plain value`);
    }
  }

  #take(count: number): number {
    const at = this.at;
    if (count > this.#raw.length - at) throw new Error("the bytes end too early");
    this.at = at + count;
    return at;
  }

  #byte(): number {
    const byte = this.#raw[this.at];
    if (byte === undefined) throw new Error("the bytes end too early");
    this.at += 1;
    return byte;
  }

  #uint16(): number {
    return this.#view.getUint16(this.#take(2));
  }

  #uint32(): number {
    return this.#view.getUint32(this.#take(4));
  }

  #int32(): number {
    return this.#view.getInt32(this.#take(4));
  }

  #wide(high: number): number {
    const number = high * TWO_32 + this.#uint32();
    if (!Number.isSafeInteger(number)) throw new Error("an integer has more than 53 bits");
    return number;
  }

  #text(length: number): string {
    const from = this.#take(length);
    const raw = this.#raw;
    if (length < 24) {
      // Most texts are short and plain; the decoder is slow to start.
      let text = "";
      let at = from;
      for (; at < this.at; at += 1) {
        const byte = raw[at] as number;
        if (byte >= 0x80) break;
        text += String.fromCharCode(byte);
      }
      if (at === this.at) return text;
    }
    return TO_TEXT.decode(raw.subarray(from, this.at));
  }

  #binary(length: number): Data {
    const from = this.#take(length);
    // Outside of the type, since plain data have none.
    return this.#raw.slice(from, this.at) as unknown as Data;
  }

  #list(length: number, depth: number): Data[] {
    this.#check(length, depth);
    const list: Data[] = [];
    for (let i = 0; i < length; i += 1) list.push(this.value(depth + 1));
    return list;
  }

  #map(length: number, depth: number): { [key: string]: Data } {
    this.#check(2 * length, depth);
    const map: { [key: string]: Data } = {};
    for (let i = 0; i < length; i += 1) {
      const key = this.value(depth + 1);
      if (typeof key !== "string") throw new Error("a key is no text");
      const value = this.value(depth + 1);
      if (key === "__proto__") {
        const [enumerable, writable, configurable] = [true, true, true];
        Object.defineProperty(map, key, { value, enumerable, writable, configurable });
      } else {
        map[key] = value;
      }
    }
    return map;
  }

  #check(parts: number, depth: number): void {
    if (depth >= MOST_DEPTH) throw new Error("the value is nested too deep");
    // Each part takes a byte: a length that cannot be is found before its list is built.
    if (parts > this.#raw.length - this.at) throw new Error("the bytes end too early");
  }
}

/**
 * Return the MessagePack bytes of data, with the keys of objects and maps in their order.
 *
 * @throws {TypeError} if a part of it is no plain data.
 */
export function encode(data: unknown): Uint8Array {
  const writer = new Writer();
  writer.value(data, 0);
  return writer.raw.slice(0, writer.length);
}

class Writer {
  raw = new Uint8Array(256);
  length = 0;
  #view = new DataView(this.raw.buffer);

  value(data: unknown, depth: number): void {
    if (depth > MOST_DEPTH) throw new TypeError("the value is nested too deep");
    if (data === null) this.#byte(0xc0);
    else if (data === true) this.#byte(0xc3);
    else if (data === false) this.#byte(0xc2);
    else if (typeof data === "number") this.#number(data);
    else if (typeof data === "string") this.#text(data);
    else if (Array.isArray(data)) this.#list(data, depth);
    else if (data instanceof Map) this.#map([...data], depth);
    else if (data instanceof Uint8Array) this.#binary(data);
    else if (isRecord(data)) this.#map(Object.entries(data), depth);
    else throw new TypeError(notPlain(data));
  }

  #room(count: number): number {
    const at = this.length;
    this.length += count;
    if (this.length > this.raw.length) {
      const grown = new Uint8Array(Math.max(2 * this.raw.length, this.length));
      grown.set(this.raw);
      this.raw = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }

  #byte(byte: number): void {
    const at = this.#room(1);
    this.raw[at] = byte;
  }

  #one(kind: number, number: number): void {
    const at = this.#room(2);
    this.raw[at] = kind;
    this.raw[at + 1] = number;
  }

  #two(kind: number, number: number): void {
    const at = this.#room(3);
    this.raw[at] = kind;
    this.#view.setUint16(at + 1, number);
  }

  #four(kind: number, number: number): void {
    const at = this.#room(5);
    this.raw[at] = kind;
    this.#view.setUint32(at + 1, number);
  }

  #number(number: number): void {
    checkInteger(number);
    if (number >= 0) {
      if (number < 0x80) this.#byte(number);
      else if (number < 0x100) this.#one(0xcc, number);
      else if (number < 0x10000) this.#two(0xcd, number);
      else if (number < TWO_32) this.#four(0xce, number);
      else this.#eight(0xcf, number);
    } else if (number >= -0x20) this.#byte(number + 0x100);
    else if (number >= -0x80) this.#one(0xd0, number);
    else if (number >= -0x8000) this.#two(0xd1, number);
    else if (number >= -TWO_32 / 2) this.#four(0xd2, number);
    else this.#eight(0xd3, number);
  }

  #eight(kind: number, number: number): void {
    this.#four(kind, Math.floor(number / TWO_32));
    const at = this.#room(4);
    this.#view.setUint32(at, number);
  }

  #text(text: string): void {
    checkText(text);
    const raw = TO_BYTES.encode(text);
    if (raw.length < 0x20) this.#byte(0xa0 | raw.length);
    else if (raw.length < 0x100) this.#one(0xd9, raw.length);
    else if (raw.length < 0x10000) this.#two(0xda, raw.length);
    else this.#four(0xdb, raw.length);
    const at = this.#room(raw.length);
    this.raw.set(raw, at);
  }

  #binary(raw: Uint8Array): void {
    if (raw.length < 0x100) this.#one(0xc4, raw.length);
    else if (raw.length < 0x10000) this.#two(0xc5, raw.length);
    else this.#four(0xc6, raw.length);
    const at = this.#room(raw.length);
    this.raw.set(raw, at);
  }

  #list(list: unknown[], depth: number): void {
    if (list.length < 0x10) this.#byte(0x90 | list.length);
    else if (list.length < 0x10000) this.#two(0xdc, list.length);
    else this.#four(0xdd, list.length);
    for (const each of list) this.value(each, depth + 1);
  }

  #map(entries: [unknown, unknown][], depth: number): void {
    if (entries.length < 0x10) this.#byte(0x80 | entries.length);
    else if (entries.length < 0x10000) this.#two(0xde, entries.length);
    else this.#four(0xdf, entries.length);
    for (const [key, value] of entries) {
      if (typeof key !== "string") throw new TypeError("a key is no text");
      this.#text(key);
      this.value(value, depth + 1);
    }
  }
}

/**
 * Check that a value is plain data.
 *
 * @throws {TypeError} if a part of it is not.
 */
export function checkPlain(data: unknown, depth = 0): void {
  if (depth > MOST_DEPTH) throw new TypeError("the value is nested too deep");
  if (data === null || typeof data === "boolean") return;
  if (typeof data === "number") checkInteger(data);
  else if (typeof data === "string") checkText(data);
  else if (Array.isArray(data)) for (const each of data) checkPlain(each, depth + 1);
  else if (isRecord(data)) {
    for (const [key, value] of Object.entries(data)) {
      checkText(key);
      checkPlain(value, depth + 1);
    }
  } else throw new TypeError(notPlain(data));
}

/** Return whether a value is an object with keys, and no instance of a class. */
export function isRecord(data: unknown): data is Record<string, unknown> {
  if (typeof data !== "object" || data === null) return false;
  const prototype: unknown = Object.getPrototypeOf(data);
  return prototype === Object.prototype || prototype === null;
}

function checkInteger(number: number): void {
  if (!Number.isSafeInteger(number)) {
    throw new TypeError(`${number} is no integer of at most 53 bits`);
  }
}

function checkText(text: string): void {
  if (!isText(text)) throw new TypeError("a text is not Unicode");
}

function notPlain(data: unknown): string {
  const kind = typeof data === "object" ? (data?.constructor?.name ?? "object") : typeof data;
  return `a value of type ${kind} is no plain data`;
}
