import * as v from "valibot";
import { expect, test } from "vitest";
import type { HttpAnswer } from "../../../src/capabilities/http.ts";
import { expectAnswer } from "../../../src/contracts/define/expect-answer.ts";
import { failHttp } from "../../../src/protocol/outcome/http-failure.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";

const answer = (more: Partial<HttpAnswer>): ReturnType<typeof ok<HttpAnswer>> =>
  ok({ status: 200, headers: {}, text: "secret words of the service", ...more });
const body = v.object({ id: v.string() });

test("accepts the expected answer, and keeps what its shape names", () => {
  const sent = answer({ status: 201, json: { id: "t1", note: "more" } });
  expect(expectAnswer(sent, { status: 201, body })).toEqual(ok({ id: "t1" }));
});

test("accepts a status alone where no body is expected", () => {
  expect(expectAnswer(answer({ status: 204 }), { status: 204 })).toEqual(ok(undefined));
});

test("hands on why there is no answer", () => {
  const failed = failHttp("http_unavailable", "gone");
  expect(expectAnswer(failed, { status: 200 })).toBe(failed);
});

test.each([
  [200, "http_unreadable", "OBSERVATION_NORMALIZATION_FAIL"],
  [202, "http_unreadable", "OBSERVATION_NORMALIZATION_FAIL"],
  [303, "http_unreadable", "OBSERVATION_NORMALIZATION_FAIL"],
  [400, "http_rejected", "SEMANTIC_INVALIDITY"],
  [401, "http_forbidden", "PERMISSION_DENIED"],
  [403, "http_forbidden", "PERMISSION_DENIED"],
  [404, "http_rejected", "SEMANTIC_INVALIDITY"],
  [408, "http_unavailable", "DEPENDENCY_UNAVAILABLE"],
  [409, "http_conflict", "STALE_STATE"],
  [412, "http_stale", "STALE_STATE"],
  [422, "http_rejected", "SEMANTIC_INVALIDITY"],
  [425, "http_unavailable", "DEPENDENCY_UNAVAILABLE"],
  [429, "http_rate_limited", "RATE_LIMITED"],
  [500, "http_unavailable", "DEPENDENCY_UNAVAILABLE"],
  [503, "http_unavailable", "DEPENDENCY_UNAVAILABLE"],
])("makes of status %d a failure %s, %s", (status, code, taxonomyClass) => {
  const sent = expectAnswer(answer({ status, retryAfterMs: 2_000 }), { status: 201 });
  expect(sent).toMatchObject({
    ok: false,
    failure: { taxonomyClass, retryAfterMs: 2_000, errors: [{ field: null, code }] },
  });
  expect(JSON.stringify(sent)).not.toContain("secret");
});

test.each([
  ["no JSON", {}],
  ["of another shape", { json: { id: "secret".length, note: "secret" } }],
])("makes of a body that is %s a failure without a word of it", (_name, more) => {
  const sent = expectAnswer(answer(more), { status: 200, body });
  expect(sent).toMatchObject({ failure: { errors: [{ code: "http_unreadable" }] } });
  expect(JSON.stringify(sent)).not.toContain("secret");
});
