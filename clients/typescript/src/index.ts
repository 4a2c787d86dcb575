/**
 * Connects bots written in TypeScript or JavaScript to an arena. The shortest bot there is:
 *
 *     import { main } from "fritillary-client";
 *
 *     await main((ask) => ask.random.choice(ask.legal));
 */

export { type Answer, type Choice, Decision, LegalAction, RESIGN } from "./answers.js";
export type { Ask } from "./ask.js";
export type { AnyBot, Bot, BotClass, Decide } from "./bot.js";
export { Client, type ClientEvents } from "./client.js";
export type { Deal } from "./dealing.js";
export type { EndpointSettings } from "./endpoint.js";
export {
  ArenaError,
  BotError,
  ConfigurationError,
  DecisionError,
  Declined,
  type ErrorDetails,
  LinkError,
  ProtocolError,
  RefusedError,
} from "./errors.js";
export type { Data } from "./msgpack.js";
export { Random } from "./random.js";
export { main, run } from "./running.js";
export type { Settings } from "./settings.js";
export type {
  AnyGame,
  Clock,
  ClockSettings,
  Event,
  GameSupport,
  GameTypes,
  MatchInfo,
  Outcome,
  Player,
  Problem,
} from "./values.js";
