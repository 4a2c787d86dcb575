/**
 * A bot that plays any game: it picks each legal action with equal probability.
 *
 * Start it by hand, or let a server start it as the player
 * `exec:node dist/examples/uniform.js`, which sets the two variables that stand in for the
 * arguments:
 *
 *     node dist/examples/uniform.js --address HOST:PORT --token TOKEN
 *     FRITILLARY_ADDRESS=HOST:PORT FRITILLARY_TOKEN=TOKEN node dist/examples/uniform.js
 *
 * Copy it and write a better `decide`. What an ask holds besides: `ask.observation` (all
 * that the seat may know), `ask.clock` (time left), `ask.events` (what has happened since
 * the last ask) and `ask.info` (game, options, seats, players). A legal action has an
 * `index`, a `text` for people, and the `action` as an object.
 */

import { type Ask, type LegalAction, main } from "fritillary-client";

/** Return one of the legal actions; the same match gives the same play again. */
function decide(ask: Ask): LegalAction {
  return ask.random.choice(ask.legal);
}

await main(decide, { name: "uniform", version: "1", light: true });
