import { beforeAll, expect, test } from "vitest";
import { postChat, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const HUGE_ARGUMENT = JSON.stringify([
  { role: "user", content: "hi" },
  {
    role: "assistant",
    content: [{ type: "tool-call", toolCallId: "a", toolName: "t", args: { x: "huge" } }],
  },
  { role: "tool", content: [{ type: "tool-result", toolCallId: "a", toolName: "t", result: 1 }] },
  { role: "user", content: "go on" },
]).replace('"huge"', "1e999");

test.each([
  ["with a key", { "idempotency-key": "huge" }],
  ["without one", {}],
])("a number that no machine holds is refused, %s", async (_name, key) => {
  const headers = { "content-type": "application/json", ...key };
  const body = `{"messages":${HUGE_ARGUMENT}}`;
  const response = await send("/v1/chat", { caller: "acme", method: "POST", headers, body });
  expect(response.status).toBe(400);
  expect(await response.json()).toMatchObject({ code: "number_too_large" });
});

test("names where a body is wrong, and never repeats what it held", async () => {
  const response = await postChat({ messages: [{ role: "user", content: 42_424_242 }] });
  const body = await response.text();
  expect(JSON.parse(body)).toMatchObject({ errors: [{ pointer: "/messages/0/content" }] });
  expect(body).not.toContain("42424242");
});

test("a body with half a million faults is answered with the first", async () => {
  const response = await postChat(`{"messages":[${"0,".repeat(500_000)}0]}`);
  expect(response.status).toBe(422);
  expect((await response.json<{ errors: unknown[] }>()).errors.length).toBe(1);
});

test.each([
  ["an unknown field", `{"${"/".repeat(500_000)}":1}`],
  ["a field that holds __proto__", `{"${"~".repeat(500_000)}":{"__proto__":1}}`],
])("a name of half a megabyte is not sent back: %s", async (_name, body) => {
  const response = await postChat(body);
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect((await response.text()).length).toBeLessThan(1_000);
});

test("answers an unknown address", async () => {
  const response = await send("/v2/chat", { caller: "acme" });
  expect([response.status, await codeOf(response)]).toEqual([404, "unknown_route"]);
});

test.each([
  ["GET", "/v1/chat", "POST"],
  ["DELETE", "/v1/tools", "GET, HEAD"],
  ["PUT", "/v1/runs/x", "GET, HEAD"],
  ["POST", "/v1/policy", "GET, HEAD, PUT"],
  ["GET", "/v1/runs/x/cancel", "POST"],
  ["HEAD", "/v1/runs/x/events", "GET"],
  ["POST", "/", "GET, HEAD"],
])("answers the wrong method %s %s with the right ones", async (method, path, allow) => {
  const response = await send(path, { caller: "acme", method });
  expect([response.status, response.headers.get("allow")]).toEqual([405, allow]);
  if (method !== "HEAD") expect(await codeOf(response)).toBe("method_not_allowed");
});

test("answers health checks without a token", async () => {
  const response = await send("/healthz");
  expect([response.status, await response.json()]).toEqual([200, { status: "ok" }]);
});

test("carries the security headers on every answer", async () => {
  for (const path of ["/healthz", "/v2/nothing", "/v1/tools"]) {
    const { headers } = await send(path);
    expect(headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  }
});

test.each([
  ["user", [{ type: "image" }], "expected a text, or a list of text, image and file parts"],
  [
    "assistant",
    [{ type: "image" }],
    "expected a text, or a list of text, tool-call and reasoning parts",
  ],
  ["tool", [], "expected exactly one tool-result"],
])("tells which content a message of the %s may have", async (role, content, message) => {
  const response = await postChat({ messages: [{ role, content }] });
  const errors = [{ pointer: "/messages/0/content", message }];
  expect(await response.json()).toMatchObject({ code: "invalid_request", errors });
});

async function codeOf(response: Response): Promise<string> {
  return (await response.json<{ code: string }>()).code;
}
