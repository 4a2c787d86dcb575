/** Where a server is, and how it is spoken to. */

import { createPrivateKey, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { ConfigurationError } from "./errors.js";
import { sentenceOf } from "./text.js";

/** Environment variables that stand in for settings. */
export const ADDRESS = "FRITILLARY_ADDRESS";
export const TOKEN = "FRITILLARY_TOKEN";
export const ROOTS = "FRITILLARY_CA";
export const CERTIFICATE = "FRITILLARY_CERT";
export const KEY = "FRITILLARY_KEY";

/** What can be said about the server. */
export interface EndpointSettings {
  /** `HOST:PORT` or `unix:PATH`; default `FRITILLARY_ADDRESS`. */
  address?: string | undefined;
  /** Of the bot; default `FRITILLARY_TOKEN`. */
  token?: string | undefined;
  /**
   * Whether to encrypt; default: unless the server is on this machine; also there if files
   * for TLS are named.
   */
  tls?: boolean | undefined;
  /** File of certificates to trust, PEM; default `FRITILLARY_CA`, else the usual ones. */
  ca?: string | undefined;
  /** File of a certificate to show to the server, PEM; default `FRITILLARY_CERT`. */
  cert?: string | undefined;
  /** File of its private key, PEM; default `FRITILLARY_KEY`. */
  key?: string | undefined;
}

/** A server, with all that it takes to be let in. Plain data, to be handed to a thread. */
export interface Endpoint {
  readonly address: string;
  readonly token: string;
  readonly tls: boolean;
  /** On this machine. */
  readonly local: boolean;
  /** Certificates to trust, PEM; undefined: the usual ones. */
  readonly roots: string | undefined;
  /** Certificate to show to the server, PEM. */
  readonly certificate: string | undefined;
  /** Of that certificate, PEM. */
  readonly key: string | undefined;
}

/**
 * Return an endpoint, checked and with the defaults filled in.
 *
 * @throws {ConfigurationError} naming what is wrong, and the mend.
 */
export function endpointOf(settings: EndpointSettings): Endpoint {
  const address = checkedAddress(settings.address || process.env[ADDRESS] || "");
  const token = checkedToken(settings.token || process.env[TOKEN] || "");
  const local = isLocal(address);
  const { ca, cert, key } = settings;
  if (settings.tls === false) {
    if (ca || cert || key) {
      const message = "ca, cert and key are for TLS; leave them out, or tls: false";
      throw new ConfigurationError(message, { code: "usage.tls" });
    }
    const none = { roots: undefined, certificate: undefined, key: undefined };
    return { address, token, local, tls: false, ...none };
  }
  const roots = rootsOf(ca || process.env[ROOTS]);
  const pair = pairOf(cert || process.env[CERTIFICATE], key || process.env[KEY]);
  const tls = settings.tls ?? (Boolean(roots || pair.certificate) || !local);
  return { address, token, local, tls, roots, ...pair };
}

/** Return the host of an address, without the brackets of IPv6. */
export function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(":")).replace(/^\[|\]$/g, "");
}

/** Return what it may be if the server closes the connection and says nothing. */
export function adviceOf(endpoint: Endpoint): string {
  if (!endpoint.tls) return `if it speaks TLS, name its authority with ca or ${ROOTS}`;
  if (endpoint.certificate === undefined) {
    return `if it wants a client certificate, set ${CERTIFICATE} and ${KEY}`;
  }
  return "it may not trust the client certificate";
}

function checkedAddress(address: string): string {
  if (!address) {
    const message = `no server is named; set ${ADDRESS} or give address: "HOST:PORT"`;
    throw new ConfigurationError(message, { code: "usage.address" });
  }
  const port = Number(/^(?:\[[^[\]/]+\]|[^[\]:/]+):(\d+)$/.exec(address)?.[1] ?? 0);
  if (address.startsWith("unix:") || (port > 0 && port < 65536)) return address;
  const message = `address '${address.slice(0, 80)}' must be of the form HOST:PORT`;
  throw new ConfigurationError(message, { code: "usage.address" });
}

function isLocal(address: string): boolean {
  const host = hostOf(address);
  return (
    host === "localhost" || host === "::1" || host.startsWith("127.") || address.startsWith("unix:")
  );
}

function checkedToken(given: string): string {
  const token = given.trim();
  if (!token) {
    const message = `there is no token; set ${TOKEN} or give token: "..."`;
    throw new ConfigurationError(message, { code: "usage.token" });
  }
  if (/^[!-~]+$/.test(token)) return token;
  const message = "the token holds characters that no token has";
  throw new ConfigurationError(message, { code: "usage.token" });
}

function rootsOf(path: string | undefined): string | undefined {
  if (!path) return undefined;
  const pem = read("certificates", path, "usage.ca");
  const found = certificatesOf(pem, path);
  // Of many some may be out of date, as in the bundles that systems bring along.
  if (found.every(isOver)) checkDates(found[0] as X509Certificate, path);
  return pem;
}

function pairOf(
  cert: string | undefined,
  key: string | undefined,
): { certificate: string | undefined; key: string | undefined } {
  if (!cert && !key) return { certificate: undefined, key: undefined };
  if (!cert || !key) {
    const missing = cert ? `key (${KEY})` : `cert (${CERTIFICATE})`;
    const message = `cert and key go together; ${missing} is missing`;
    throw new ConfigurationError(message, { code: "usage.tls" });
  }
  const chain = read("certificate", cert, "usage.tls");
  const found = certificatesOf(chain, cert);
  for (const each of found) checkDates(each, cert);
  const pem = read("key", key, "usage.tls");
  let fits: boolean | undefined;
  try {
    fits = found[0]?.checkPrivateKey(createPrivateKey(pem));
  } catch (cause) {
    const message = `key ${key}: holds no private key that can be read, in PEM and not encrypted`;
    throw new ConfigurationError(message, { code: "usage.tls", cause });
  }
  if (!fits) {
    const message = `key ${key} does not belong to certificate ${cert}`;
    throw new ConfigurationError(message, { code: "usage.tls" });
  }
  return { certificate: chain, key: pem };
}

function certificatesOf(pem: string, path: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g) ?? [];
  let problem = "holds no certificate in PEM";
  if (blocks.length > 0) problem = "holds a certificate that cannot be read";
  else if (pem.includes("PRIVATE KEY-----")) problem = "holds a key where a certificate is wanted";
  try {
    if (blocks.length > 0) return blocks.map((block) => new X509Certificate(block));
  } catch {
    // told below
  }
  throw new ConfigurationError(`certificate ${path}: ${problem}`, { code: "usage.tls" });
}

function checkDates(certificate: X509Certificate, path: string): void {
  let problem = "";
  if (isOver(certificate)) problem = `expired on ${certificate.validTo}`;
  else if (Date.parse(certificate.validFrom) > Date.now()) {
    problem = `is not valid before ${certificate.validFrom}`;
  }
  if (!problem) return;
  throw new ConfigurationError(`certificate ${path}: ${problem}`, { code: "usage.tls" });
}

function isOver(certificate: X509Certificate): boolean {
  return Date.parse(certificate.validTo) < Date.now();
}

function read(what: string, path: string, code: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    const why = sentenceOf(cause).replace(/^Error: \w+: |, (open|read)\b.*$/g, "");
    throw new ConfigurationError(`${what} ${path}: ${why}`, { code, cause });
  }
}
