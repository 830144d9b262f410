import { describe, expect, test } from "vitest";
import { createDevelopmentAuthenticator } from "../../../src/adapters/identity/development-authenticator.ts";
import { createStaticTokenAuthenticator } from "../../../src/adapters/identity/static-token-authenticator.ts";
import type { ActorId, TenantId } from "../../../src/protocol/identity/ids.ts";

const principal = {
  tenantId: "dev" as TenantId,
  actorId: "user:dev" as ActorId,
  roles: [],
  scopes: [],
};
const bob = { ...principal, actorId: "user:bob" as ActorId };
const secret = "the secret of the development server";
const ADMITTED = { "x-interlock-developer": secret };
const { scopes: _none, ...eve } = { ...principal, actorId: "user:eve" as ActorId };
const authenticator = createDevelopmentAuthenticator(
  { people: [principal, bob, eve], secret },
  {
    otherwise: createStaticTokenAuthenticator([]),
    allScopes: (tenant) => Promise.resolve(["chat", `${tenant}:refund`]),
  },
);
const ask = (url: string, headers: Record<string, string> = {}): Promise<unknown> =>
  authenticator.authenticate(new Request(url, { headers: { ...ADMITTED, ...headers } }));

test.each([
  ["http://127.0.0.1:8787/v1/chat", {}],
  ["http://localhost:8787/v1/chat", { origin: "http://localhost:8787" }],
  ["http://[::1]:8787/v1/chat", { "sec-fetch-site": "same-origin" }],
])("lets a developer in: %s %j", async (url, headers) => {
  expect(await ask(url, headers)).toEqual({ ok: true, value: principal });
});

test("a request acts as the person that the development server names", async () => {
  const acting = (name: string): Promise<unknown> =>
    ask("http://localhost:8787/", { "x-interlock-as": name });
  expect(await acting("user:bob")).toEqual({ ok: true, value: bob });
  expect(await acting("user:nobody")).toMatchObject({ ok: false });
});

test("a person without scopes has all of them, those of tools and of the policy too", async () => {
  const asked = ask("http://localhost:8787/", { "x-interlock-as": "user:eve" });
  expect(await asked).toEqual({ ok: true, value: { ...eve, scopes: ["chat", "dev:refund"] } });
});

describe("keeps everyone else out", () => {
  test.each([
    ["another host", "http://interlock.example/v1/chat", {}],
    ["a name that is rebound to loopback", "http://evil.example:8787/v1/chat", {}],
    ["a host that only begins like one", "http://127.0.0.1.evil.example/v1/chat", {}],
    ["a page of another origin", "http://localhost:8787/", { origin: "https://evil.example" }],
    ["a page of another port", "http://localhost:8787/", { origin: "http://localhost:3000" }],
    ["a sandboxed page", "http://localhost:8787/", { origin: "null" }],
    ["a request across sites", "http://localhost:8787/", { "sec-fetch-site": "cross-site" }],
    [
      "a request past the development server",
      "http://localhost:8787/",
      { "x-interlock-developer": "" },
    ],
    ["a wrong token", "http://localhost:8787/", { authorization: "Bearer x" }],
  ])("%s", async (_name, url, headers) => {
    expect(await ask(url, headers)).toMatchObject({ ok: false });
  });
});
