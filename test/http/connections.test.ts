import { describe, expect, test } from "vitest";
import { composeConnections } from "../../src/compose/stores.ts";
import { checkEnv, type RawEnv } from "../../src/env.ts";
import type { ConnectionId, TenantId } from "../../src/protocol/identity/ids.ts";
import { bindings, send } from "../shared/worker.ts";

const SECRET = "sk-very-secret-0123456789";

function put(body: unknown, id = "crm"): Promise<Response> {
  return send(`/v1/connections/${id}`, {
    caller: "keeper",
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

function remove(id: string): Promise<Response> {
  return send(`/v1/connections/${id}`, { caller: "keeper", method: "DELETE" });
}

async function headersOf(connectionId: string): Promise<unknown> {
  const env = checkEnv(bindings as unknown as RawEnv);
  if (!env.ok) throw new Error(env.failure.problems.join());
  const { broker } = composeConnections(env.value);
  const { signal } = new AbortController();
  const bound = await broker.bind("acme" as TenantId, connectionId as ConnectionId, { signal });
  return bound.ok ? bound.value.auth.getAuthHeaders() : bound.failure.code;
}

async function wholeOf(response: Response): Promise<string> {
  return JSON.stringify([[...response.headers], await response.text()]);
}

test("accepts a secret, returns no body, and the broker opens it", async () => {
  const response = await put({ kind: "bearer", token: SECRET });
  expect(response.status).toBe(204);
  expect(await wholeOf(response)).not.toContain(SECRET);
  expect(await headersOf("crm")).toEqual({ authorization: `Bearer ${SECRET}` });
  expect(await bindings.CONNECTIONS.get("connection/acme/crm")).not.toContain(SECRET);
});

test("accepts a header and lower-cases its name", async () => {
  expect((await put({ kind: "header", name: "X-Api-Key", value: SECRET }, "h")).status).toBe(204);
  expect(await headersOf("h")).toEqual({ "x-api-key": SECRET });
});

test("forgets a secret, and answers the same when there is none", async () => {
  await put({ kind: "bearer", token: SECRET }, "gone");
  expect((await remove("gone")).status).toBe(204);
  expect(await headersOf("gone")).toBe("unknown_connection");
  expect((await remove("gone")).status).toBe(204);
});

test("never reveals a secret", async () => {
  await put({ kind: "bearer", token: SECRET });
  const response = await send("/v1/connections/crm", { caller: "keeper" });
  expect([response.status, response.headers.get("allow")]).toEqual([405, "PUT, DELETE"]);
  expect(await wholeOf(response)).not.toContain(SECRET);
});

describe("refuses, and repeats no part of what was sent", () => {
  const header = (name: string, value: string = SECRET): object => ({
    kind: "header",
    name,
    value,
  });
  const cases: readonly [name: string, body: unknown, pointer: string][] = [
    ["a field that is the secret", { kind: "bearer", token: "x", [SECRET]: 1 }, ""],
    ["a misspelt field", { kind: "bearer", tokn: SECRET }, "/token"],
    ["a field too many", { kind: "bearer", token: SECRET, name: SECRET }, "/name"],
    ["a kind that is the secret", { kind: SECRET, token: "x" }, "/kind"],
    ["no kind", { token: SECRET }, "/kind"],
    ["a body that is the secret", JSON.stringify(SECRET), ""],
    ["a list", [SECRET], "/kind"],
    ["a token that is no text", { kind: "bearer", token: { [SECRET]: SECRET } }, "/token"],
    ["an empty token", { kind: "bearer", token: "" }, "/token"],
    ["a token with a space", { kind: "bearer", token: `${SECRET} x` }, "/token"],
    ["a token with a line break", { kind: "bearer", token: `${SECRET}\r\nx: y` }, "/token"],
    ["a token outside ASCII", { kind: "bearer", token: `${SECRET}é` }, "/token"],
    ["a token that is too long", { kind: "bearer", token: SECRET.repeat(200) }, "/token"],
    ["a header value with a line break", header("x-key", `${SECRET}\r\nhost: x`), "/value"],
    ["a header value that ends in a line feed", header("x-key", `${SECRET}\n`), "/value"],
    ["a header value that is too long", header("x-key", SECRET.repeat(200)), "/value"],
    ["a header value with a space around it", header("x-key", ` ${SECRET}`), "/value"],
    ["a header name with a line break", header(`x\r\n${SECRET}`), "/name"],
    ["a header name with a space", header("x key"), "/name"],
    ["a header name that is too long", header("x".repeat(65)), "/name"],
    ...[
      "Host",
      "Cookie",
      "Set-Cookie",
      "Connection",
      "Transfer-Encoding",
      "TE",
      "Upgrade",
      "Content-Length",
      "Content-Type",
      "Proxy-Authorization",
      "Idempotency-Key",
      "X-Forwarded-Host",
      "X-HTTP-Method-Override",
      "CF-Connecting-IP",
      "Sec-Fetch-Site",
    ].map((name): [string, unknown, string] => [`the header ${name}`, header(name), "/name"]),
  ];
  test.each(cases)("%s", async (_name, body, pointer) => {
    const response = await put(body, "refused");
    expect(response.status).toBe(422);
    const answer: { errors: unknown } = await response.clone().json();
    expect(answer).toMatchObject({ code: "invalid_request", errors: [{ pointer }] });
    const whole = await wholeOf(response);
    for (let start = 0; start + 6 <= SECRET.length; start += 1) {
      expect(whole).not.toContain(SECRET.slice(start, start + 6));
    }
    expect(await bindings.CONNECTIONS.get("connection/acme/refused")).toBeNull();
  });

  test.each([
    ["a body that is no JSON", `{"kind":"bearer","token":"${SECRET}`, 400, "invalid_json"],
    ["a forbidden key beside the secret", `{"${SECRET}":{"__proto__":1}}`, 400, "forbidden_key"],
  ])("%s", async (_name, body, status, code) => {
    const response = await put(body);
    expect(response.status).toBe(status);
    expect(await response.clone().json()).toMatchObject({ code });
    expect(await wholeOf(response)).not.toContain(SECRET);
  });

  test.each(["a.b", "a%2Fb", "a".repeat(65), "%00", "ä"])("the id %j", async (id) => {
    for (const response of [await put({ kind: "bearer", token: SECRET }, id), await remove(id)]) {
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ code: "connection_id_invalid" }),
      ]);
    }
  });
});
