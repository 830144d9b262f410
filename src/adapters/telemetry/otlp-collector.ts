import type { Clock } from "../../capabilities/system.ts";
import type { RawEnv } from "../../env.ts";
import { parseServiceAddress } from "../../protocol/connection/service-address.ts";
import { type Fetch, HttpExchange } from "../egress/http-exchange.ts";

/** Where spans go, by the names of the settings that every exporter of OpenTelemetry reads. */
export interface CollectorSettings {
  readonly url: string;
  /** They may hold a secret. */
  readonly headers: Readonly<Record<string, string>>;
  readonly service: string;
}

const ADDRESS = "OTEL_EXPORTER_OTLP_ENDPOINT";
const HEADERS = "OTEL_EXPORTER_OTLP_HEADERS";

/** Reads the settings. Fails: throws a sentence for the operator, which holds no value. */
export function readCollector(raw: RawEnv): CollectorSettings {
  const read = (name: string): string => (typeof raw[name] === "string" ? raw[name] : "");
  const [address, service] = [read(ADDRESS), read("OTEL_SERVICE_NAME")];
  if (address === "") throw new Error(`${ADDRESS} is missing`);
  const url = parseServiceAddress(address, { allowsLoopback: true });
  if (url === undefined) {
    throw new Error(`${ADDRESS} is not valid. Set it to a public https address`);
  }
  const headers = readHeaders(read(HEADERS));
  return { url: `${url}/v1/traces`, headers, service: service === "" ? "interlock" : service };
}

const NAME = /^[\w!#$%&'*+.^`|~-]+$/;
/** Printable ASCII: every parser reads it as one line. */
const VALUE = /^[\x20-\x7e]+$/;

/** Reads pairs `name=value` with commas between, values encoded as in an address. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.split(",").filter((pair) => pair.trim() !== "");
  const read = pairs.map((pair) => {
    const [name = "", ...rest] = pair.split("=");
    return [name.trim().toLowerCase(), decode(rest.join("=").trim())] as const;
  });
  if (!read.every(([name, value]) => NAME.test(name) && VALUE.test(value))) {
    throw new Error(`${HEADERS} is not valid. Set it to pairs name=value with commas between`);
  }
  return { ...Object.fromEntries(read), "content-type": "application/json" };
}

/** Answers no value where the text is not encoded. */
function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** What a collector did with spans. `away`: the same spans may be sent again. */
export type CollectorAnswer = "taken" | "away" | "refused";

/** How long a collector may take. */
export const MAX_ANSWER_MS = 5_000;
/** https://opentelemetry.io/docs/specs/otlp/#failures-1 (read 2026-11-28). */
const RETRYABLE: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/**
 * Sends one request of spans. Of the answer only the status counts.
 * Threat: a collector that is slow, answers without end, or leads the headers to another host.
 * Contract: never throws; ends within 5 seconds, or soon after.
 */
export async function sendSpans(
  { url, headers }: CollectorSettings,
  body: string,
  ports: { readonly fetch: Fetch; readonly clock: Clock },
): Promise<CollectorAnswer> {
  const { signal } = new AbortController();
  const exchange = new HttpExchange({ ...ports, idleTimeoutMs: MAX_ANSWER_MS, signal });
  const opened = await exchange.open(url, { method: "POST", headers, body, redirect: "manual" });
  if (!opened.ok) exchange.close();
  else exchange.finish();
  if (!opened.ok) return "away";
  const { ok: isTaken, status } = opened.value;
  return isTaken ? "taken" : RETRYABLE.has(status) ? "away" : "refused";
}
