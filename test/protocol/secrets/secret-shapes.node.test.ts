import * as fc from "fast-check";
import { createHash } from "node:crypto";
import { describe, expect, expectTypeOf, test } from "vitest";
import { growthOf, LINEAR } from "../../shared/growth.ts";
import { toCanonicalJson } from "../../../src/protocol/json/canonical-hash.ts";
import { isWellFormed } from "../../../src/protocol/json/guard.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import { findSecret, MASKED, maskSecrets } from "../../../src/protocol/secrets/secret-shapes.ts";
import type { ToolInvocationContext } from "../../../src/protocol/invocation/record.ts";

const HEX = "0123456789abcdef".repeat(2);
const context = {
  runId: `run_${HEX}_${HEX}`,
  tenantId: "acme",
  actorId: "user:ann@example.com",
  subjectId: "agent:risk-desk_1.0",
  connectionId: "crm-production",
  toolCallId: "call_9AkIaZ0x3Fh7Qm2LwYtB5sVd",
  step: 1,
  part: 2,
};

test("the context of an invocation has these fields, references all of them", () => {
  // Checked when the tests are compiled: another field needs a reason why it is no secret.
  expectTypeOf<keyof ToolInvocationContext>().toEqualTypeOf<
    | "runId"
    | "tenantId"
    | "actorId"
    | "subjectId"
    | "connectionId"
    | "workspaceId"
    | "toolCallId"
    | "step"
    | "part"
  >();
  expectTypeOf<ToolInvocationContext[keyof ToolInvocationContext]>().toExtend<
    string | number | undefined
  >();
});

describe("passes", () => {
  test("a context of ours, with nothing in it and with everything", () => {
    expect(findSecret(context)).toBeUndefined();
    expect(findSecret({})).toBeUndefined();
    expect(findSecret({ ...context, subjectId: undefined, extra: null })).toBeUndefined();
  });

  test.each([
    `sha256:${HEX}${HEX}`,
    createHash("sha256").update("key").digest("base64url"),
    "toolu_01A09q90qw90lq917835lq9",
    "chatcmpl-tool-8b1f5a1c0d5e4f0f8a63",
    "functions.core__calculate:0",
    "0-17",
    "task-0123456789abcdef",
    "desk_0123456789",
    "pk-logistics",
    "https://example.com/a@b",
    "Basic economy",
    "the bearer of news",
    "2026-11-20T20:00:00.000Z",
  ])("the reference %s", (id) => {
    expect(findSecret({ toolCallId: id, idempotencyKey: id, virtualKeyId: id })).toBeUndefined();
  });

  test("any run id, hash and provider's call id", () => {
    const hex = fc.stringMatching(/^[0-9a-f]{32}$/);
    const callId = fc.stringMatching(/^(?:call|toolu)_[A-Za-z0-9]{24}$/);
    fc.assert(
      fc.property(hex, hex, callId, (nonce, mac, toolCallId) => {
        const runId = `run_${nonce}_${mac}`;
        expect(findSecret({ runId, hash: `sha256:${nonce}${mac}`, toolCallId })).toBeUndefined();
      }),
    );
  });
});

describe("finds", () => {
  test.each([
    "token",
    "accessToken",
    "access_token",
    "refresh-token",
    "refresh",
    "id.token",
    "clientSecret",
    "SECRET",
    "password",
    "db_passwd",
    "passphrase",
    "Authorization",
    "authHeaders",
    "apiKey",
    "API_KEY",
    "x-api-key",
    "Cookie",
    "setCookie",
    "credentials",
    "privateKey",
    "bearer",
    "jwt",
    "sessionKey",
  ])("the name %s, whatever it holds", (name) => {
    expect(findSecret({ ...context, [name]: "x" })).toBe(`/${name}`);
    expect(findSecret({ ...context, [name]: 1 })).toBe(`/${name}`);
    expect(findSecret({ ...context, deep: [{ [name]: null }] })).toBe(`/deep/0/${name}`);
  });

  // Put together here, so that no scanner takes this file for a leak.
  test.each([
    ["Bearer", "abcdefgh12345"].join(" "),
    ["bearer", "abcdefgh12345"].join("\t"),
    ["Basic", btoa("ann:hunter2")].join(" "),
    ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxIn0", "c2lnbmF0dXJl"].join("."),
    ["sk", "proj-abcdefghijkl"].join("-"),
    ["sk", "live_abcdefghijkl"].join("_"),
    ["ghp", "abcdefghijklmnopqrstuvwxyz0123456789"].join("_"),
    ["gho", "abcdefghijklmnopqrstuvwxyz0123456789"].join("_"),
    ["github_pat", "11ABCDEFG0abcdefghijkl"].join("_"),
    ["glpat", "abcdefghijklmnopqrst"].join("-"),
    ["xoxb", "123456789012-abc"].join("-"),
    ["AKIA", "IOSFODNN7EXAMPLE"].join(""),
    ["AIza", "SyA0123456789abcdefghijklmnopqrstuv"].join(""),
    ["ilk", "abcdefghijklmnopqrstuvwxyz0123456789_-ABCDE"].join("_"),
    ["-----BEGIN", "PRIVATE KEY-----\nMIIE"].join(" "),
    ["https://ann:hunter2", "example.com/"].join("@"),
    ["postgres://reader", "db.internal:5432/app"].join("@"),
  ])("the value %s, also in the middle of a text and as a name", (secret) => {
    expect(findSecret(secret)).toBe("");
    expect(findSecret({ ...context, actorId: `see ${secret} there` })).toBe("/actorId");
    expect(findSecret({ list: ["a", secret] })).toBe("/list/1");
    expect(findSecret({ map: { [secret]: 1 } })).toBe("/map/…");
  });

  test.each([
    ["a function", () => "x"],
    ["a map", new Map([["a", "b"]])],
    ["headers", new Headers({ a: "b" })],
    ["an object with a class of its own", new URL("https://example.com")],
    ["bytes", new Uint8Array(1)],
    ["a symbol", Symbol("x")],
  ])("%s, for nobody can look into it", (_name, value) => {
    expect(findSecret({ ...context, extra: value })).toBe("/extra");
  });

  test("a value that contains itself", () => {
    const loop: Record<string, unknown> = {};
    loop["again"] = loop;
    expect(findSecret(loop)).toMatch(/^\/again/);
  });
});

test.for(["bearer ", "eyJaaaaaaaa", "://", "sk-", "basic\t", "AKIA"])(
  "%j over and over takes time in proportion to its length",
  (piece) => {
    const find = (count: number): void => void findSecret({ text: piece.repeat(count) });
    expect(growthOf(find, 10_000)).toBeLessThan(LINEAR);
  },
);

test("many starts of a web token in one word take time in proportion to their length", () => {
  const find = (count: number): void => void findSecret({ text: "-eyJ".repeat(count) });
  expect(growthOf(find, 1_000)).toBeLessThan(LINEAR);
});

describe("masking", () => {
  const SECRET = "sk-4f9a8b7c6d5e4f3a";

  test.each<[string, JsonValue, JsonValue]>([
    ["a value", `Bearer ${SECRET}`, MASKED],
    ["a value in a list in an object", { a: [1, [SECRET]] }, { a: [1, [MASKED]] }],
    ["whatever a telling name holds", { apiKey: { deep: 7 }, pin: 7 }, { apiKey: MASKED, pin: 7 }],
    ["a name that is one", { [SECRET]: "plain" }, { "…": MASKED }],
    ["half a character", { "\ud800": "a\udc00" }, { "\ufffd": "a\ufffd" }],
  ])("replaces %s", (_name, value, expected) => {
    expect(maskSecrets(value)).toEqual(expected);
  });

  test("replaces what is nested too deep, and overflows nothing", () => {
    let bomb: JsonValue = SECRET;
    for (let depth = 0; depth < 10_000; depth++) bomb = [bomb];
    expect(JSON.stringify(maskSecrets(bomb))).not.toContain(SECRET);
  });

  test("leaves nothing that looks like a secret, and everything else as it was", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (json) => {
        const value = json as JsonValue;
        const masked = maskSecrets(value);
        expect(maskSecrets(masked)).toEqual(masked);
        expect(() => toCanonicalJson(masked)).not.toThrow();
        const isInnocent = findSecret(value) === undefined && isWellFormed(value);
        if (isInnocent) expect(masked).toEqual(value);
      }),
    );
  });
});
