/** The generated code of the protocol, for programs that speak it themselves. */

export * as bot from "./gen/fritillary/api/v1/bot.js";
export * as catalog from "./gen/fritillary/api/v1/catalog.js";
export * as common from "./gen/fritillary/api/v1/common.js";
export * as match from "./gen/fritillary/api/v1/match.js";
