import { exportSPKI, importJWK, SignJWT } from "jose";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { foundIssuer, type Issuer } from "../fakes/issuer.ts";
import {
  authOf,
  base64url,
  bearer,
  claimsOf,
  compact,
  deploy,
  ISSUER,
  type Send,
} from "../shared/identity.ts";
import { script } from "../fakes/scripted-model.ts";
import { bindings, HOST_PAGE, seedPolicies, send as sendToTest } from "../shared/worker.ts";

let issuer: Issuer;
let send: Send;
beforeAll(async () => {
  await seedPolicies();
  issuer = await foundIssuer("attacks");
  send = deploy({ AUTH: authOf({ algorithms: ["RS256"], jwksUrl: issuer.jwksUrl }) });
  // The keys are known before anybody attacks.
  expect((await send("/v1/tools", bearer(await issuer.sign(claimsOf())))).status).toBe(200);
});

async function expectRefused(token: string): Promise<void> {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  const response = await send("/v1/tools", bearer(token));
  // The log says why, in words of its own.
  const line = String(warn.mock.calls[0]?.[0]);
  warn.mockRestore();
  expect(line).toMatch(/^\{"level":"warn","code":"token_refused","detail":"(?:[A-Za-z][^"]+)"\}$/);
  for (const part of token.split(".")) expect(line.includes(part) && part.length > 3).toBe(false);
  expect([response.status, await response.json()]).toEqual([
    401,
    expect.objectContaining({ code: "invalid_token" }),
  ]);
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
}

const now = Math.floor(Date.now() / 1_000);

test.each([
  ["without exp", { exp: undefined }],
  ["whose exp is a text", { exp: `${now + 300}` }],
  ["whose exp is a list", { exp: [now + 300] }],
  ["whose exp is null", { exp: null }],
  ["that has expired", { exp: now - 60 }],
  ["that is not valid yet", { nbf: now + 60 }],
  ["whose nbf is a text", { nbf: "0" }],
  ["that was issued in the future", { iat: now + 60 }],
  ["whose iat is a text", { iat: "0" }],
  ["of another issuer", { iss: "https://evil.test/" }],
  ["of an issuer that only begins like ours", { iss: `${ISSUER}.evil.test` }],
  ["of a list of issuers", { iss: [ISSUER] }],
  ["without an issuer", { iss: undefined }],
  ["for another audience", { aud: "other" }],
  ["for a list of other audiences", { aud: ["other", "interlock-test "] }],
  ["whose audience is an object", { aud: { "interlock-test": true } }],
  ["without an audience", { aud: undefined }],
  ["without a tenant", { tenant: undefined }],
  ["whose tenant is a list", { tenant: ["acme"] }],
  ["whose tenant is an object", { tenant: { id: "acme" } }],
  ["whose tenant is a number", { tenant: 1 }],
  ["whose tenant is empty", { tenant: "" }],
  ["whose tenant has a separator", { tenant: "acme/current" }],
  ["whose tenant climbs", { tenant: "../acme" }],
  ["whose tenant has a line break", { tenant: "acme\n" }],
  ["whose tenant is of another script", { tenant: "аcme" }],
  ["without a subject", { sub: undefined }],
  ["whose subject is a number", { sub: 7 }],
  ["whose subject has a space", { sub: "ann smith" }],
  ["whose subject names a kind twice", { sub: "user:user:ann" }],
  ["whose subject is a kind alone", { sub: "user:" }],
  ["whose subject has 256 characters", { sub: "x".repeat(256) }],
  ["whose subject closes a text", { sub: 'ann"' }],
  ["whose subject opens an element", { sub: "<b>ann" }],
  ["whose subject is half decoded", { sub: "ann%7Cb" }],
  ["whose subject has a line break", { sub: "ann\n" }],
  ["whose subject has a letter of another script", { sub: "\u0430nn" }],
  ["whose subject would be masked as a key", { sub: "sk-0123456789abcdef" }],
  ["whose subject would be masked as an address with a password", { sub: "a://b:c@d" }],
  ["whose scopes are an object", { scope: { chat: true } }],
  ["whose scopes are numbers", { scope: [1] }],
  ["whose roles are an object", { roles: { approver: true } }],
  ["whose actor is a text", { act: "helper" }],
  ["whose actor has no name", { act: {} }],
  ["whose actor acts for another", { act: { sub: "helper", act: { sub: "deeper" } } }],
  ["whose actor acts for nobody", { act: { sub: "helper", act: null } }],
  ["whose actor has a separator", { act: { sub: "a,b" } }],
])("refuses a token %s", async (_name, changes) => {
  await expectRefused(await issuer.sign(claimsOf(changes)));
});

test.each([
  ["has expired", { exp: now - 60 }],
  ["has another aud", { aud: "other" }],
  ["has another iss", { iss: "https://evil.test/" }],
  ["has a claim sub that is not 1 to 255 of", { sub: "ann smith" }],
  ["has a claim tenant that is not", { tenant: 7 }],
])("the log says of a refused token: %s", async (reason, changes) => {
  const warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  await send("/v1/tools", bearer(await issuer.sign(claimsOf(changes))));
  expect(warn.mock.calls).toEqual([[expect.stringContaining(`"the JWT ${reason}`)]]);
  warn.mockRestore();
});

test.each([
  ["critical extension that nobody knows", { crit: ["x"], x: true }],
  ["critical extension that a library knows", { crit: ["b64"], b64: true }],
  ["payload that is not encoded", { crit: ["b64"], b64: false }],
  ["type of another kind of token", { typ: "dpop+jwt" }],
  ["type of a page's token", { typ: "embed+jwt" }],
  ["type that is no text", { typ: 1 }],
  ["key id that climbs", { kid: "../../../../dev/null" }],
  ["key id that is an address", { kid: "https://evil.test/jwks" }],
  ["key id that asks a database", { kid: "' UNION SELECT 'x" }],
  ["key id that is an object", { kid: { toString: "first" } }],
])("refuses a token with a %s", async (_name, header) => {
  const payload = claimsOf();
  const signed = await issuer.sign(payload, header as never).catch(() => undefined);
  await expectRefused(
    signed ?? compact({ alg: "RS256", kid: "first", ...header }, payload, "AAAA"),
  );
});

describe("a token chooses neither its algorithm nor its key", () => {
  test.each(["none", "None", "NONE", "nOnE", "", "HS256", "HS384", "ES256", "__proto__"])(
    "unsigned, with alg %j",
    async (alg) => {
      await expectRefused(compact({ alg, typ: "JWT" }, claimsOf()));
      await expectRefused(compact({ alg, typ: "JWT" }, claimsOf(), "AAAA"));
    },
  );

  test("HS256 under the issuer's public key, in each spelling of it", async () => {
    const key = await importJWK(issuer.publicJwk, "RS256", { extractable: true });
    if (key instanceof Uint8Array) throw new Error("not a public key");
    const pem = await exportSPKI(key);
    for (const secret of [pem, `${pem}\n`, pem.trim(), JSON.stringify(issuer.publicJwk)]) {
      const forged = await new SignJWT(claimsOf())
        .setProtectedHeader({ alg: "HS256", kid: "first" })
        .sign(new TextEncoder().encode(secret));
      await expectRefused(forged);
    }
  });

  test("a key that it brings along, or an address of one, is not looked at", async () => {
    const evil = await foundIssuer("evil");
    const forged = { jwk: evil.publicJwk, jku: evil.jwksUrl, x5u: evil.jwksUrl };
    for (const header of [forged, { ...forged, kid: "first" }, { ...forged, kid: "evil" }]) {
      await expectRefused(await evil.sign(claimsOf(), header));
    }
    expect(await evil.asked()).toBe(0);
  });

  test("one byte of the payload changed", async () => {
    const [header = "", payload = "", signature = ""] = (await issuer.sign(claimsOf())).split(".");
    const other = base64url(
      atob(payload.replaceAll("-", "+").replaceAll("_", "/")).replace("acme", "bcme"),
    );
    await expectRefused(`${header}.${other}.${signature}`);
    await expectRefused(`${header}.${payload}.`);
    await expectRefused(`${header}.${payload}.${signature.slice(0, -4)}`);
  });
});

test.each([
  ["of 20 KB", `${base64url('{"alg":"RS256"}')}.${"A".repeat(20_000)}.AAAA`],
  ["of a megabyte", `A.${"A".repeat(1_000_000)}.A`],
  ["of three dots", "..."],
  ["of five parts", "A.A.A.A.A"],
  ["that is no JSON", "AAAA.AAAA.AAAA"],
  ["whose header is a list", `${base64url("[]")}.${base64url("{}")}.AAAA`],
])("refuses a token %s", async (_name, token) => {
  await expectRefused(token);
});

test("a sound token that is too long is refused before anything is verified", async () => {
  await expectRefused(await issuer.sign(claimsOf({ padding: "x".repeat(8_000) })));
});

test.each(["authorization", "idempotency-key", "origin", "last-event-id"])(
  "a line break in %s never reaches the Worker",
  (name) => {
    for (const value of ["a\r\nx-evil: 1", "a\nb", "a\rb", "a\0b"]) {
      expect(() => new Headers({ [name]: value })).toThrow(TypeError);
    }
  },
);

describe("what a page holds and what a server holds are never taken for each other", () => {
  const embedBody = { origin: HOST_PAGE, actorId: "user:ann", toolIds: ["core__calculate"] };
  const mint = async (): Promise<string> => {
    const response = await sendToTest("/v1/embed-tokens", {
      caller: "backend",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ ...embedBody, scopes: ["chat", "tools:read"] }),
    });
    return (await response.json<{ token: string }>()).token;
  };

  test("an embed token without its type is not accepted", async () => {
    const [, payload = "", signature = ""] = (await mint()).split(".");
    for (const header of [{ alg: "HS256" }, { alg: "HS256", typ: "JWT" }, { alg: "RS256" }]) {
      const stripped = `${base64url(JSON.stringify(header))}.${payload}.${signature}`;
      const response = await send("/v1/tools", bearer(stripped, { origin: HOST_PAGE }));
      expect(response.status).toBe(401);
    }
  });

  test("a token that claims to be an embed token is refused under every other key", async () => {
    const claims = {
      ...claimsOf({ iss: "interlock", aud: "interlock-embed", tenant: "hosted", sub: "user:ann" }),
      jti: "x",
      minter: "service:backend",
      origin: HOST_PAGE,
      toolIds: ["core__calculate"],
      scopes: ["tools:read"],
    };
    const secrets = ["a secret for tests, 32 bytes long", "embed-token", ""];
    const forged = await Promise.all(
      secrets
        .slice(0, 2)
        .map((secret) =>
          new SignJWT(claims)
            .setProtectedHeader({ alg: "HS256", typ: "embed+jwt" })
            .sign(new TextEncoder().encode(secret)),
        ),
    );
    forged.push(await issuer.sign(claims, { typ: "embed+jwt" }));
    forged.push(compact({ alg: "none", typ: "embed+jwt" }, claims));
    for (const token of forged) {
      const response = await send("/v1/tools", bearer(token, { origin: HOST_PAGE }));
      expect(response.status).toBe(401);
    }
  });
});

test("nothing of a token is in an answer, in KV or in an event", async () => {
  const canary = "canary0123456789";
  const claims = claimsOf({ canary, scope: "chat runs:read tools:read" });
  const sound = await issuer.sign(claims);
  const parts = sound.split(".").slice(1);
  const said: string[] = [];
  const run = await send("/v1/chat", {
    method: "POST",
    ...bearer(sound, { "content-type": "application/json", "idempotency-key": "canary-of-tokens" }),
    body: JSON.stringify({ messages: [{ role: "user", content: script({ text: ["hi"] }) }] }),
  });
  said.push(JSON.stringify([...run.headers]), await run.text());
  const refused = [`${sound}x`, `Basic ${sound}`, canary, `a.${canary}.b`];
  for (const token of refused) {
    const answer = await send("/v1/tools", bearer(token));
    said.push(JSON.stringify([...answer.headers]), await answer.text());
  }
  for (const kv of [bindings.POLICY, bindings.IDEMPOTENCY, bindings.CONNECTIONS]) {
    const { keys } = await kv.list();
    for (const { name } of keys) said.push(name, (await kv.get(name)) ?? "");
  }
  for (const text of said) {
    for (const secret of [canary, ...parts]) expect(text).not.toContain(secret);
  }
});
