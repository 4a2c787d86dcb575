/**
 * A bot for Lepidoptery: wins if it can, blocks if it must, sheds what it can.
 *
 * It shows how to read observations and actions, which are plain objects and lists. What
 * each field means stands in the JSON Schemas of the game (`fritillary game lepidoptery`).
 *
 *     node dist/examples/lepidoptery.js --address HOST:PORT --token TOKEN
 */

import { type Ask, type Bot, type LegalAction, main } from "fritillary-client";

type Combo = "single" | "pair" | "triple" | "run2" | "run3";
type Action = { type: "pass" } | { type: "play"; combo: Combo; rank: number; joker: number };
/** A column lists the seats whose tokens lie in it, from the bottom up. */
type Columns = number[][];

/** The types of the game, as far as they are read here. */
interface Lepidoptery {
  options: { heights: number[]; order: Combo[] };
  action: Action;
  observation: {
    columns: Columns;
    /** By seat: the type that it may not play next. */
    markers: (Combo | null)[];
    hand_sizes: number[];
    deck_sizes: number[];
  };
}

/** Cards of each type of combination, the joker included. */
const CARDS = { single: 1, pair: 2, triple: 3, run2: 2, run3: 3 };

/** Does it win, how few cells does it leave that win, what does it gain. */
type Liking = [wins: number, safety: number, gain: number];

/** Looks one move ahead and one answer, at the board alone. */
class Greedy implements Bot<Lepidoptery> {
  readonly games = ["lepidoptery"];

  decide(ask: Ask<Lepidoptery>): LegalAction<Action> {
    const likings = ask.legal.map((legal) => this.#liking(ask, legal.action));
    const best = likings.reduce((a, b) => (compare(a, b) < 0 ? b : a));
    return ask.random.choice(ask.legal.filter((_, i) => compare(likings[i] ?? best, best) === 0));
  }

  #liking({ observation, options, seat: me }: Ask<Lepidoptery>, action: Action): Liking {
    const { heights, order } = options;
    const other = 1 - me;
    const columns = observation.columns.map((column) => [...column]);
    // Nobody may play the type that lies on his own marker.
    const shown = observation.markers[other];
    const barred = shown ? order.indexOf(shown) : -1;
    if (action.type === "pass") return [0, -winsNext(columns, heights, other, barred), 0];
    const place = order.indexOf(action.combo);
    columns[place]?.push(me);
    const cards = CARDS[action.combo] - (action.joker ? 1 : 0);
    const left = (observation.hand_sizes[me] ?? 0) + (observation.deck_sizes[me] ?? 0) - cards;
    const wins = left === 0 || fourAt(columns, place);
    if (columns[place]?.length === heights[place]) {
      // A column that fills up empties the other full one.
      columns.forEach((column, i) => {
        if (i !== place && column.length === heights[i]) column.length = 0;
      });
    }
    const risk = winsNext(columns, heights, other, barred);
    // Many cards, low ones first, for they beat least. The joker is worth almost a card,
    // and a cell that would complete four is worth two.
    const gain = cards - 0.05 * action.rank - (action.joker ? 0.8 : 0);
    return [wins ? 1 : 0, -risk, gain + 2 * winsNext(columns, heights, me, place)];
  }
}

function compare(a: Liking, b: Liking): number {
  return a[0] - b[0] || a[1] - b[1] || a[2] - b[2];
}

/** Return in how many columns a seat's next token would complete four. */
function winsNext(columns: Columns, heights: number[], seat: number, barred: number): number {
  return heights.filter((height, place) => {
    const column = columns[place] ?? [];
    if (place === barred || column.length >= height) return false;
    return fourAt(columns.with(place, [...column, seat]), place);
  }).length;
}

/** Say whether the top token of a column lies in a line of four. */
function fourAt(columns: Columns, place: number): boolean {
  const row = (columns[place]?.length ?? 0) - 1;
  const seat = columns[place]?.[row];
  const lines = [
    [0, 1],
    [1, 0],
    [1, 1],
    [1, -1],
  ] as const;
  return lines.some(([right, up]) => {
    const along = (way: number): number => {
      let count = 0;
      while (columns[place + way * right * (count + 1)]?.[row + way * up * (count + 1)] === seat) {
        count += 1;
      }
      return count;
    };
    return 1 + along(1) + along(-1) >= 4;
  });
}

await main(Greedy, { name: "lepidoptery", version: "1", light: true });
