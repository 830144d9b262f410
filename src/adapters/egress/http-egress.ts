import type { Clock } from "../../capabilities/system.ts";
import type { Egress, EgressGrant, HttpAnswer } from "../../capabilities/http.ts";
import { failHttp } from "../../protocol/outcome/http-failure.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { findProtoKey, nestsTooDeep } from "../../protocol/json/guard.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { type AdmittedRequest, admitRequest, type UpstreamAddresses } from "./admit-request.ts";
import { type Fetch, HttpExchange } from "./http-exchange.ts";
import { parseRetryAfter } from "./retry-after.ts";

export interface HttpEgressPorts {
  readonly fetch: Fetch;
  readonly clock: Clock;
  readonly addresses: UpstreamAddresses;
}

/** Longer than any contract allows: the invocation's signal ends the wait earlier. */
const IDLE_TIMEOUT_MS = 300_000;
/** Response headers that a tool may read. */
const SHOWN_HEADERS = /^(?:content-type|etag|last-modified|location)$/;

/**
 * Sends the requests of tools to the upstreams and hosts of their contracts.
 * Threat: the author of the tool, the model that chose its arguments, and the service that answers.
 * Limit: the platform resolves host names, so the address behind an allowed name is not checked.
 */
export function createHttpEgress(ports: HttpEgressPorts): Egress {
  return {
    addressesOf: (upstreams) => upstreams.map((name) => ports.addresses.get(name) ?? ""),
    bind(granted) {
      const grant = { ...granted, addresses: ports.addresses };
      let hasActed = false;
      return {
        async send(request) {
          const admitted = admitRequest(request, grant, hasActed);
          if (admitted.ok) {
            hasActed ||= admitted.value.acts;
            return exchange(ports, admitted.value, grant);
          }
          // A failure would claim that nothing happened, and an earlier request may have acted.
          if (hasActed)
            throw new Error("refused after an effect: the tool may send one changing request only");
          return failHttp("http_refused", admitted.failure);
        },
      };
    },
  };
}

async function exchange(
  ports: HttpEgressPorts,
  { url, init }: AdmittedRequest,
  { maxAnswerBytes, signal }: EgressGrant,
): Promise<Result<HttpAnswer, ToolFailure>> {
  const connection = new HttpExchange({ ...ports, idleTimeoutMs: IDLE_TIMEOUT_MS, signal });
  try {
    const opened = await connection.open(url, init);
    if (!opened.ok) return UNAVAILABLE;
    const text = await readText(connection, maxAnswerBytes);
    return text.ok ? ok(answerOf(opened.value, text.value, ports.clock)) : text;
  } finally {
    connection.close();
  }
}

/** One failure for all cases: each time it is unknown what the service did. */
const UNAVAILABLE = failHttp("http_unavailable", "the service did not send a complete response");

async function readText(
  connection: HttpExchange,
  maxBytes: number,
): Promise<Result<string, ToolFailure>> {
  const utf8 = new TextDecoder();
  let text = "";
  let bytes = 0;
  for (;;) {
    const read = await connection.read();
    if (!read.ok) return UNAVAILABLE;
    if (!read.value) return ok(text + utf8.decode());
    bytes += read.value.byteLength;
    if (bytes > maxBytes) {
      return failHttp("http_unreadable", `the response of the service exceeds ${maxBytes} bytes`);
    }
    text += utf8.decode(read.value, { stream: true });
  }
}

function answerOf({ status, headers }: Response, text: string, clock: Clock): HttpAnswer {
  const json = /[/+]json\b/i.test(headers.get("content-type") ?? "") ? parseJson(text) : undefined;
  const retryAfterSeconds = parseRetryAfter(headers.get("retry-after"), clock);
  return {
    status,
    headers: Object.fromEntries([...headers].filter(([name]) => SHOWN_HEADERS.test(name))),
    text,
    ...(json !== undefined && { json }),
    ...(retryAfterSeconds !== undefined && { retryAfterMs: retryAfterSeconds * 1000 }),
  };
}

/** Reads JSON; undefined also for JSON that is unsafe to walk or merge. */
function parseJson(text: string): JsonValue | undefined {
  if (nestsTooDeep(text)) return undefined;
  try {
    const value = JSON.parse(text) as JsonValue;
    return findProtoKey(value) ? undefined : replaceHalves(value);
  } catch {
    return undefined;
  }
}
