import { afterEach, describe, expect, test } from "vitest";
import { createKeyRing } from "../../../src/adapters/keys/key-ring.ts";
import { createSealedConnections } from "../../../src/adapters/secrets/sealed-connections.ts";
import type { AuthCapability } from "../../../src/capabilities/connection.ts";
import type { ConnectionKey } from "../../../src/protocol/connection/keys.ts";
import type { StoredConnection } from "../../../src/protocol/connection/stored.ts";
import type { ConnectionId, TenantId } from "../../../src/protocol/identity/ids.ts";
import { bindings } from "../../shared/worker.ts";

const kv = bindings.CONNECTIONS;
const addressRules = { allowsLoopback: false };
const [acme, rival] = ["acme", "rival"] as TenantId[] as [TenantId, TenantId];
const [crm, mail] = ["crm", "mail"] as ConnectionId[] as [ConnectionId, ConnectionId];
const SECRET = "s3cr3t-t0ken-of-the-crm";
const bearer: StoredConnection = { kind: "bearer", token: SECRET };

const keyOf = (id: string, fill: number): ConnectionKey => ({
  id,
  key: new Uint8Array(32).fill(fill),
});
const [older, newer] = [keyOf("2026-10", 1), keyOf("2026-11", 2)];
const connectionsWith = (
  ...keys: [ConnectionKey, ...ConnectionKey[]]
): ReturnType<typeof createSealedConnections> =>
  createSealedConnections({
    kv,
    addressRules,
    keyRing: createKeyRing(keys, (length) => crypto.getRandomValues(new Uint8Array(length))),
  });
const connections = connectionsWith(newer);
const lasting = new AbortController().signal;

afterEach(async () => {
  const { keys } = await kv.list();
  await Promise.all(keys.map(({ name }) => kv.delete(name)));
});

async function bound(signal = lasting, from = connections): Promise<AuthCapability> {
  const answer = await from.bind(acme, crm, { signal });
  if (!answer.ok) throw new Error(answer.failure.code);
  return answer.value.auth;
}

async function stored(): Promise<string> {
  return (await kv.get("connection/acme/crm")) ?? "";
}

function bytesOf(base64url: string): Uint8Array {
  const base64 = base64url.replaceAll("-", "+").replaceAll("_", "/");
  return Uint8Array.from(atob(base64), (char) => char.charCodeAt(0));
}

function textOf(bytes: Uint8Array): string {
  const base64 = btoa(String.fromCharCode(...bytes));
  return base64.replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

const unreadable = { ok: false, failure: { code: "unreadable_connection" } };
const unknown = { ok: false, failure: { code: "unknown_connection" } };

describe("what was put", () => {
  test("opens as a token and as a header", async () => {
    await connections.put(acme, crm, bearer);
    const auth = await bound();
    expect(await auth.getAccessToken()).toBe(SECRET);
    expect(await auth.getAuthHeaders()).toEqual({ authorization: `Bearer ${SECRET}` });
  });

  test("opens as the header it is, which has no token", async () => {
    await connections.put(acme, crm, { kind: "header", name: "x-api-key", value: SECRET });
    const auth = await bound();
    expect(await auth.getAuthHeaders()).toEqual({ "x-api-key": SECRET });
    const refusal = await auth.getAccessToken().catch(String);
    expect(refusal).toContain("use getAuthHeaders");
    expect(refusal).not.toContain(SECRET);
  });

  test("is replaced by the next put and gone after a removal, also a second one", async () => {
    await connections.put(acme, crm, bearer);
    await connections.put(acme, crm, { kind: "bearer", token: "another" });
    expect(await (await bound()).getAccessToken()).toBe("another");
    await connections.remove(acme, crm);
    await connections.remove(acme, crm);
    expect(await connections.bind(acme, crm, { signal: lasting })).toEqual(unknown);
  });

  test("lies in the namespace without any part of the secret", async () => {
    await connections.put(acme, crm, bearer);
    const text = await stored();
    const { v, key, nonce, sealed, ...rest } = JSON.parse(text) as Record<string, string>;
    expect([v, key, rest]).toEqual([1, "2026-11", {}]);
    const bytes = String.fromCharCode(...bytesOf(sealed ?? ""));
    for (let start = 0; start + 6 <= SECRET.length; start += 1) {
      const part = SECRET.slice(start, start + 6);
      expect(`${text} ${bytes}`).not.toContain(part);
      expect(text).not.toContain(btoa(part));
    }
    expect(nonce).toHaveLength(16);
  });

  test("is sealed under a new nonce each time", async () => {
    const nonces = new Set<unknown>();
    for (let count = 0; count < 20; count += 1) {
      await connections.put(acme, crm, bearer);
      nonces.add((JSON.parse(await stored()) as { nonce: string }).nonce);
    }
    expect(nonces.size).toBe(20);
  });
});

describe("does not open", () => {
  test("a value moved to another tenant or another id", async () => {
    await connections.put(acme, crm, bearer);
    await kv.put("connection/rival/crm", await stored());
    await kv.put("connection/acme/mail", await stored());
    expect(await connections.bind(rival, crm, { signal: lasting })).toEqual(unreadable);
    expect(await connections.bind(acme, mail, { signal: lasting })).toEqual(unreadable);
  });

  test("a value of which any one bit was changed", async () => {
    await connections.put(acme, crm, bearer);
    const value = JSON.parse(await stored()) as { nonce: string; sealed: string };
    for (const field of ["nonce", "sealed"] as const) {
      const bytes = bytesOf(value[field]);
      for (const index of bytes.keys()) {
        const changed = bytes.slice();
        changed[index] = (changed[index] ?? 0) ^ (1 << (index % 8));
        const text = textOf(changed);
        await kv.put("connection/acme/crm", JSON.stringify({ ...value, [field]: text }));
        expect(await connections.bind(acme, crm, { signal: lasting })).toEqual(unreadable);
      }
    }
  });

  test("a value that lost its end", async () => {
    await connections.put(acme, crm, bearer);
    const value = JSON.parse(await stored()) as { sealed: string };
    for (const sealed of [value.sealed.slice(0, -4), value.sealed.slice(0, 8), "A"]) {
      await kv.put("connection/acme/crm", JSON.stringify({ ...value, sealed }));
      expect(await connections.bind(acme, crm, { signal: lasting })).toEqual(unreadable);
    }
  });

  test("a value whose key is not on the ring", async () => {
    await connections.put(acme, crm, bearer);
    expect(await connectionsWith(older).bind(acme, crm, { signal: lasting })).toEqual(unreadable);
  });

  test("a value under another key of the same name", async () => {
    await connections.put(acme, crm, bearer);
    const impostor = connectionsWith(keyOf(newer.id, 9));
    expect(await impostor.bind(acme, crm, { signal: lasting })).toEqual(unreadable);
  });

  test("a value that names another key, even one with the same bytes", async () => {
    await connections.put(acme, crm, bearer);
    await kv.put("connection/acme/crm", (await stored()).replace(newer.id, "copy"));
    const ring = connectionsWith(newer, keyOf("copy", 2));
    expect(await ring.bind(acme, crm, { signal: lasting })).toEqual(unreadable);
  });

  test.each(["", "null", "{}", SECRET, JSON.stringify(bearer)])(
    "a value of another form: %j",
    async (text) => {
      await kv.put("connection/acme/crm", text);
      expect(await connections.bind(acme, crm, { signal: lasting })).toEqual(unreadable);
    },
  );

  test("when storage fails", async () => {
    const broken = { get: () => Promise.reject(new Error(SECRET)) } as unknown as KVNamespace;
    const keyRing = createKeyRing([newer], () => new Uint8Array(12));
    const answer = await createSealedConnections({ kv: broken, keyRing, addressRules }).bind(
      acme,
      crm,
      { signal: lasting },
    );
    expect(answer).toEqual(unreadable);
  });
});

test("a connection sealed with an older key opens, and the next put seals it with the first", async () => {
  await connectionsWith(older).put(acme, crm, bearer);
  const rotated = connectionsWith(newer, older);
  expect(await (await bound(lasting, rotated)).getAccessToken()).toBe(SECRET);
  expect(JSON.parse(await stored())).toMatchObject({ key: older.id });
  await rotated.put(acme, crm, bearer);
  expect(await (await bound(lasting, connections)).getAccessToken()).toBe(SECRET);
});

describe("the capability", () => {
  test("refuses once its invocation is over", async () => {
    await connections.put(acme, crm, bearer);
    const invocation = new AbortController();
    const auth = await bound(invocation.signal);
    const late = auth.getAccessToken();
    invocation.abort();
    await expect(late).rejects.toThrow("the invocation is over");
    await expect(auth.getAuthHeaders()).rejects.toThrow("the invocation is over");
  });

  test("shows no secret when inspected, before and after its use", async () => {
    await connections.put(acme, crm, bearer);
    const auth = await bound();
    await auth.getAuthHeaders();
    expect(Reflect.ownKeys(auth)).toEqual(["getAccessToken", "getAuthHeaders"]);
    expect(JSON.stringify(auth)).toBe("{}");
    expect([auth.getAccessToken.length, auth.getAuthHeaders.length]).toEqual([0, 0]);
  });

  test("keeps the connection it was bound to, whatever it is called with", async () => {
    await connections.put(acme, crm, bearer);
    await connections.put(acme, mail, { kind: "bearer", token: "of-the-mail" });
    const auth = (await bound()) as unknown as { getAccessToken(id: string): Promise<string> };
    expect(await auth.getAccessToken("mail")).toBe(SECRET);
  });
});
