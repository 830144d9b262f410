import * as v from "valibot";
import type { HttpAnswer } from "../../capabilities/http.ts";
import { failHttp, type HttpErrorCode } from "../../protocol/outcome/http-failure.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";

/**
 * Reads the one answer that a tool expects, by its status and the shape of its JSON. Turns every
 * other answer into a failure. Without `body` it ignores the body.
 * Contract: pure. A failure holds the service's status and no other part of its answer.
 * Fails: the failure of `send`; every `http_` code except http_refused.
 */
export function expectAnswer<Body = undefined>(
  sent: Result<HttpAnswer, ToolFailure>,
  expected: {
    readonly status: number;
    readonly body?: v.GenericSchema<unknown, Body>;
  },
): Result<Body, ToolFailure> {
  if (!sent.ok) return sent;
  const { status, json, retryAfterMs } = sent.value;
  if (status !== expected.status) {
    return failHttp(codeOf(status), `the service answered with status ${status}`, retryAfterMs);
  }
  if (!expected.body) return ok(undefined as Body);
  const parsed = v.safeParse(expected.body, json);
  if (parsed.success) return ok(parsed.output);
  return failHttp("http_unreadable", "the service answered in an unexpected form");
}

const CODES: ReadonlyMap<number, HttpErrorCode> = new Map([
  [401, "http_forbidden"],
  [403, "http_forbidden"],
  [408, "http_unavailable"],
  [409, "http_conflict"],
  [412, "http_stale"],
  [425, "http_unavailable"],
  [429, "http_rate_limited"],
]);

function codeOf(status: number): HttpErrorCode {
  if (status < 400) return "http_unreadable";
  return CODES.get(status) ?? (status < 500 ? "http_rejected" : "http_unavailable");
}
