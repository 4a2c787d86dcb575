/** Action tables: fetched once from the server and kept by their hash. */

import { LegalAction } from "./answers.js";
import { type Encoding, MSGPACK } from "./encoding.js";
import { ArenaError, ProtocolError } from "./errors.js";
import { decodeMessage } from "./frames.js";
import type { MatchOffer } from "./gen/fritillary/api/v1/bot.js";
import {
  type ActionEntry,
  CatalogServiceDefinition,
  ListActionsRequest,
  ListActionsResponse,
} from "./gen/fritillary/api/v1/catalog.js";
import { fullId } from "./reading.js";

/** Entries asked for at a time. */
const PAGE = 5_000;

const LIST_ACTIONS = `/${CatalogServiceDefinition.fullName}/${CatalogServiceDefinition.methods.listActions.name}`;

/** Returns the answer of a method of the server; throws an `ArenaError` if there is none. */
export type Caller = (path: string, request: Uint8Array) => Promise<Uint8Array>;

/** All actions that a seat can ever take, by index. */
export class Table {
  readonly #actions: LegalAction[];

  constructor(entries: readonly ActionEntry[]) {
    this.#actions = entries.map(
      ({ index, text, msgpack }) =>
        new LegalAction(index, text, () => MSGPACK.decode(msgpack, "an action")),
    );
  }

  /**
   * Return the action of an index.
   *
   * @throws {ProtocolError} if the server sent an index that is not in its table.
   */
  at(index: number): LegalAction {
    const action = this.#actions[index];
    if (action) return action;
    const size = this.#actions.length;
    throw new ProtocolError(`the server sent index ${index} of a table of ${size} actions`);
  }
}

/** The tables met so far, by hash. */
export class Tables {
  readonly #tables = new Map<string, Promise<Table>>();

  /**
   * Return the table of an offer, from the server if it is a new one.
   *
   * @throws {ArenaError} if the server does not hand it out.
   */
  get(offer: MatchOffer, encoding: Encoding, call: Caller): Promise<Table> {
    const key = hex(offer.table?.hash);
    const known = this.#tables.get(key);
    if (known) return known;
    const fetched = fetchTable(offer, encoding, call);
    this.#tables.set(key, fetched);
    // Who asks again after a failure tries again.
    fetched.catch(() => this.#tables.delete(key));
    return fetched;
  }
}

async function fetchTable(offer: MatchOffer, encoding: Encoding, call: Caller): Promise<Table> {
  const { options: data } = offer;
  const options = { encoding: encoding.number, data };
  const request: ListActionsRequest = {
    game: fullId(offer),
    options: data.length ? { choice: { $case: "options", options } } : undefined,
    seats: offer.seats.length,
    pageSize: PAGE,
    pageToken: "",
  };
  const entries: ActionEntry[] = [];
  for (;;) {
    const page = read(await call(LIST_ACTIONS, ListActionsRequest.encode(request).finish()));
    if (hex(page.table?.hash) !== hex(offer.table?.hash)) {
      const message = "the catalog's action table is not the one of the offer";
      throw new ArenaError(message, { code: "game.other-table" });
    }
    entries.push(...page.actions);
    if (!page.nextPageToken || page.actions.length === 0) break;
    request.pageToken = page.nextPageToken;
  }
  const size = offer.table?.size;
  if (entries.length !== size || entries.some(({ index }, place) => index !== place)) {
    const message = `the catalog gave ${entries.length} entries of an action table of ${size}`;
    throw new ProtocolError(message, { code: "game.other-table" });
  }
  return new Table(entries);
}

function read(raw: Uint8Array): ListActionsResponse {
  try {
    return decodeMessage(ListActionsResponse, raw);
  } catch (cause) {
    throw new ProtocolError("the server sent an answer that cannot be read", { cause });
  }
}

function hex(hash: Uint8Array | undefined): string {
  return Buffer.from(hash ?? []).toString("hex");
}
