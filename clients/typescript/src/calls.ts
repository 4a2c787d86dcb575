/** Channels to a server, and what failed calls mean. */

import { isIP } from "node:net";
import {
  type ChannelOptions,
  Client,
  credentials,
  Metadata,
  status as Status,
  type StatusObject,
} from "@grpc/grpc-js";
import { adviceOf, CERTIFICATE, type Endpoint, hostOf, ROOTS } from "./endpoint.js";
import { type ArenaError, LinkError, RefusedError } from "./errors.js";
import { decodeMessage } from "./frames.js";
import { ErrorInfo } from "./gen/fritillary/api/v1/common.js";
import { shown } from "./text.js";

/** The figures of the protocol. */
const HTTP2_INTERVAL_MS = 30_000;
const HTTP2_TIMEOUT_MS = 10_000;

/** A frame of the server is no longer than this. */
const MOST_RECEIVED = 64 * 1024 * 1024;

const ERROR_KEY = "fritillary-error-bin";

/** These will not go away by trying again. */
const FINAL = new Set([
  Status.UNAUTHENTICATED,
  Status.PERMISSION_DENIED,
  Status.UNIMPLEMENTED,
  Status.INVALID_ARGUMENT,
  Status.FAILED_PRECONDITION,
  Status.NOT_FOUND,
  Status.OUT_OF_RANGE,
]);

/** Return a channel with the keepalive of the protocol. */
export function openChannel(endpoint: Endpoint): Client {
  const options: ChannelOptions = {
    "grpc.keepalive_time_ms": HTTP2_INTERVAL_MS,
    "grpc.keepalive_timeout_ms": HTTP2_TIMEOUT_MS,
    // The client has its own back-off, and sends again what must be.
    "grpc.use_local_subchannel_pool": 1,
    "grpc.enable_retries": 0,
    "grpc.service_config_disable_resolution": 1,
    "grpc.max_receive_message_length": MOST_RECEIVED,
    "grpc.max_send_message_length": -1,
    // No proxy leads to this machine.
    "grpc.enable_http_proxy": endpoint.local ? 0 : 1,
  };
  const bytes = (text: string | undefined) => (text === undefined ? null : Buffer.from(text));
  const { address, tls, roots, key, certificate } = endpoint;
  const secured = tls
    ? credentials.createSsl(bytes(roots), bytes(key), bytes(certificate))
    : credentials.createInsecure();
  return new Client(address, secured, options);
}

/**
 * Keep Node.js from warning that the server is named by an address, which is as good as a
 * name here; return what lets it warn again. It warns once, at the first connection.
 */
export function hush({ tls, address }: Endpoint): () => void {
  if (!tls || !isIP(hostOf(address)) || process.noDeprecation) return () => {};
  process.noDeprecation = true;
  return () => {
    process.noDeprecation = false;
  };
}

/** Return what says who calls. */
export function metadataOf(endpoint: Endpoint): Metadata {
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${endpoint.token}`);
  return metadata;
}

/** Return the error that the server has told. */
export function refused(info: ErrorInfo | undefined): RefusedError {
  const { message = "", code, retryAfterMs } = info ?? {};
  return new RefusedError(shown(message) || "the server refused", { code, retryAfterMs });
}

/**
 * Return the error of a failed RPC: the server's own word where it sent one.
 *
 * @param opened whether the server had answered before.
 */
export function errorOf(status: StatusObject, endpoint: Endpoint, opened: boolean): ArenaError {
  const { code, details } = status;
  const [word] = status.metadata.get(ERROR_KEY);
  if (word instanceof Uint8Array) {
    try {
      return refused(decodeMessage(ErrorInfo, word));
    } catch {
      // the status has to do
    }
  }
  const { address } = endpoint;
  if (code === Status.UNAUTHENTICATED) {
    const message = shown(details) || "the server does not know this token";
    return new RefusedError(message, { code: "auth.unknown-token" });
  }
  if (code === Status.UNIMPLEMENTED) {
    const message = `the server at ${address} is no arena of this version`;
    return new RefusedError(message, { code: "link.no-arena" });
  }
  const name = Status[code] ?? String(code);
  if (FINAL.has(code)) {
    const dotted = `status.${name.toLowerCase().replaceAll("_", "-")}`;
    return new RefusedError(shown(details), { code: dotted });
  }
  if (code === Status.UNAVAILABLE && !opened) return unreachable(details, endpoint);
  return new LinkError(`the link to ${address} was lost (${name}: ${shown(details)})`);
}

/** Return the error of a connection that was never made. */
function unreachable(details: string, endpoint: Endpoint): LinkError {
  const { address } = endpoint;
  const distrusted =
    /(self[- ]signed certificate( in certificate chain)?|unable to (get|verify)[^;:.]*|certificate has expired|certificate is not yet valid|CERT_[A-Z_]+)/i.exec(
      details,
    );
  if (/altnames|ERR_TLS_CERT_ALTNAME/i.test(details)) {
    const name = hostOf(address);
    const message = `the certificate of the server at ${address} is not for the name ${name}`;
    return new LinkError(message, { code: "link.certificate" });
  }
  if (distrusted) {
    const why = shown(distrusted[0]);
    let message = `the certificate of the server at ${address} is not trusted (${why})`;
    if (/self|issuer|verify/i.test(why)) message += `; name its authority with ca or ${ROOTS}`;
    return new LinkError(message, { code: "link.certificate" });
  }
  if (/wrong version number|packet length too long/i.test(details)) {
    const message =
      `the server at ${address} speaks no TLS; leave out ca, cert and key ` +
      `(${ROOTS}, ${CERTIFICATE}), or give tls: false`;
    return new LinkError(message, { code: "link.no-tls" });
  }
  let reason = reasonOf(details);
  if (/Failed to connect|ECONNRESET|EPIPE|closed|dropped|disconnected|alert/i.test(details)) {
    reason = `it closed the connection; ${adviceOf(endpoint)}`;
  }
  const message = `no server answers at ${address} (${reason})`;
  return new LinkError(message, { code: "link.unreachable" });
}

/** Return why, from the words of gRPC around it. */
function reasonOf(details: string): string {
  const reason = details
    .replace(/^.*Last error: (Error: )?/, "")
    .replace(/\.? ?(Resolution note:.*|Error code: .*)?$/, "");
  return shown(reason || details);
}
