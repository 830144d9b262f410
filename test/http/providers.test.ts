import { describe, expect, test } from "vitest";
import { bindings, type Caller, send } from "../shared/worker.ts";

const KEY = "own-key-0123456789-abcdef";
const PROVIDER = {
  wire: "openai",
  baseUrl: "https://llm.example.com/v1/",
  apiKey: KEY,
  models: [{ name: "big-one" }, { name: "org/small:2", effort: "low", can: { images: true } }],
};
const VIEW = {
  status: "ready",
  wire: "openai",
  baseUrl: "https://llm.example.com/v1",
  models: PROVIDER.models,
};

function put(body: unknown, id = "mine", caller: Caller = "supplier"): Promise<Response> {
  return send(`/v1/providers/${id}`, {
    caller,
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

function get(id: string, caller: Caller = "supplier"): Promise<Response> {
  return send(`/v1/providers/${id}`, { caller });
}

function remove(id: string): Promise<Response> {
  return send(`/v1/providers/${id}`, { caller: "supplier", method: "DELETE" });
}

async function list(caller: Caller = "supplier"): Promise<readonly unknown[]> {
  const response = await send("/v1/providers", { caller });
  return (await response.json<{ providers: unknown[] }>()).providers;
}

async function wholeOf(response: Response): Promise<string> {
  return JSON.stringify([response.status, [...response.headers], await response.text()]);
}

const stored = (id: string, tenant = "acme"): Promise<string | null> =>
  bindings.CONNECTIONS.get(`provider/${tenant}/${id}`);

test("stores a provider, shows it without its key, replaces it and deletes it", async () => {
  const response = await put(PROVIDER);
  expect([response.status, await response.text()]).toEqual([204, ""]);
  expect(await (await get("mine")).json()).toEqual({ id: "mine", ...VIEW });
  await put({ ...PROVIDER, wire: "anthropic" });
  expect(await list()).toEqual([{ id: "mine", ...VIEW, wire: "anthropic" }]);
  expect((await remove("mine")).status).toBe(204);
  expect((await get("mine")).status).toBe(404);
  expect((await remove("mine")).status).toBe(204);
  expect(await list()).toEqual([]);
});

test("the key is in no answer, no stored value and no audit record", async () => {
  const answers = [await put(PROVIDER), await get("mine"), await put({ ...PROVIDER, wire: "x" })];
  const seen = await Promise.all(answers.map((answer) => wholeOf(answer)));
  seen.push(JSON.stringify(await list()), (await stored("mine")) ?? "");
  seen.push(await (await send("/v1/audit", { caller: "auditor" })).text());
  expect(seen.at(-1)).toContain('"providerId":"mine"');
  for (const text of seen) {
    for (let start = 0; start + 6 <= KEY.length; start += 1) {
      expect(text).not.toContain(KEY.slice(start, start + 6));
    }
  }
});

test("a value that was changed, or moved to another tenant or id, is unreadable", async () => {
  await put(PROVIDER);
  const value = (await stored("mine")) ?? "";
  await bindings.CONNECTIONS.put("provider/acme/moved", value);
  await bindings.CONNECTIONS.put("provider/rival/mine", value);
  await bindings.CONNECTIONS.put("provider/acme/changed", value.replace(/.{4}"}$/, 'AAAA"}'));
  for (const id of ["moved", "changed"]) {
    expect(await (await get(id)).json()).toEqual({ id, status: "unreadable" });
  }
  expect(await (await get("mine", "rivalSupplier")).json()).toMatchObject({ status: "unreadable" });
  expect(await list()).toContainEqual({ id: "moved", status: "unreadable" });
  await Promise.all(["moved", "changed"].map((id) => remove(id)));
});

test("another tenant's provider is unknown", async () => {
  await put(PROVIDER, "ours");
  const [theirs, unknown] = [await get("ours", "rivalSupplier"), await get("x", "rivalSupplier")];
  expect([theirs.status, await theirs.json()]).toEqual([404, await unknown.json()]);
  expect(JSON.stringify(await list("rivalSupplier"))).not.toContain("ours");
  await send("/v1/providers/ours", { caller: "rivalSupplier", method: "DELETE" });
  expect((await get("ours")).status).toBe(200);
});

test("a tenant has at most 32 providers, and may replace each", async () => {
  const ids = Array.from({ length: 32 }, (_, index) => `p${index}`);
  for (const id of ids) await put(PROVIDER, id, "rivalSupplier");
  const refused = await put(PROVIDER, "one-more", "rivalSupplier");
  expect([refused.status, await refused.json()]).toEqual([
    422,
    expect.objectContaining({ code: "too_many_providers" }),
  ]);
  expect((await put(PROVIDER, "p7", "rivalSupplier")).status).toBe(204);
  expect(await list("rivalSupplier")).toHaveLength(32);
});

describe("refuses, and repeats no part of what was sent", () => {
  const model = (extra: object): object => ({ ...PROVIDER, models: [{ name: "m", ...extra }] });
  test.each([
    ["no key", { ...PROVIDER, apiKey: undefined }, "/apiKey"],
    ["a short key", { ...PROVIDER, apiKey: "1234567" }, "/apiKey"],
    ["a long key", { ...PROVIDER, apiKey: KEY.repeat(200) }, "/apiKey"],
    ["a key with a line break", { ...PROVIDER, apiKey: `${KEY}\r\nx: y` }, "/apiKey"],
    ["a key with a space", { ...PROVIDER, apiKey: `${KEY} ${KEY}` }, "/apiKey"],
    ["a key that JSON escapes", { ...PROVIDER, apiKey: `${KEY}"` }, "/apiKey"],
    ["a key outside ASCII", { ...PROVIDER, apiKey: `${KEY}é` }, "/apiKey"],
    ["a field that is the key", { ...PROVIDER, [KEY]: 1 }, ""],
    ["an unknown wire", { ...PROVIDER, wire: KEY }, "/wire"],
    ["no model", { ...PROVIDER, models: [] }, "/models"],
    ["a model twice", { ...PROVIDER, models: [{ name: "m" }, { name: "m" }] }, "/models"],
    ["a model with a space", model({ name: `${KEY} m` }), "/models/0/name"],
    ["a model with an unknown field", model({ [KEY]: 1 }), "/models/0"],
    ["too many models", { ...PROVIDER, models: Array.from({ length: 33 }, named) }, "/models"],
  ])("%s", async (_name, body, pointer) => {
    const response = await put(body, "refused");
    const whole = await wholeOf(response.clone());
    expect(await response.json()).toMatchObject({ code: "invalid_request", errors: [{ pointer }] });
    expect(whole).not.toContain(KEY.slice(0, 12));
    expect(await stored("refused")).toBeNull();
  });

  test.each(["a.b", "a%2Fb", "a".repeat(65), "%00", "ä"])("the id %j", async (id) => {
    for (const response of [await put(PROVIDER, id), await get(id), await remove(id)]) {
      expect([response.status, await response.json()]).toEqual([
        400,
        expect.objectContaining({ code: "provider_id_invalid" }),
      ]);
    }
  });
});

function named(_: unknown, index: number): object {
  return { name: `model-${index}` };
}

describe("refuses an address that is not public https", () => {
  test.each([
    "http://llm.example.com/v1",
    "ftp://llm.example.com",
    "llm.example.com/v1",
    "//llm.example.com/v1",
    "javascript:alert(1)",
    "https://",
    "https://localhost/v1",
    "https://LOCALHOST/v1",
    "https://localhost./v1",
    "https://api.localhost/v1",
    "https://printer.local/v1",
    "https://metadata.google.internal/v1",
    "https://nas.home.arpa/v1",
    "https://router.lan",
    "https://intranet/v1",
    "https://llm.example.com./v1",
    "https://127.0.0.1/v1",
    "https://10.0.0.8/v1",
    "https://172.16.0.1/v1",
    "https://192.168.1.1/v1",
    "https://169.254.169.254/latest",
    "https://100.64.0.1/v1",
    "https://0.0.0.0/v1",
    "https://8.8.8.8/v1",
    "https://2130706433/v1",
    "https://0x7f000001/v1",
    "https://0x7f.1/v1",
    "https://0177.0.0.1/v1",
    "https://127.1/v1",
    "https://１２７.0.0.1/v1",
    "https://127。0。0。1/v1",
    "https://①②⑦.0.0.1/v1",
    "https://[::1]/v1",
    "https://[::]/v1",
    "https://[::ffff:127.0.0.1]/v1",
    "https://[::ffff:7f00:1]/v1",
    "https://[64:ff9b::7f00:1]/v1",
    "https://[fd00::1]/v1",
    "https://[fe80::1]/v1",
    "https://[2001:db8::1]/v1",
    "https://user@llm.example.com/v1",
    "https://user:pass@llm.example.com/v1",
    "https://llm.example.com@127.0.0.1/v1",
    "https://llm.example.com\\@127.0.0.1/v1?x",
    "https://llm.example.com/v1?key=1",
    "https://llm.example.com/v1#x",
    "https://llm.example.com/v1?",
    "https://llm_.-x.1/v1",
    `https://llm.example.com/${"x".repeat(2_048)}`,
  ])("%s", async (baseUrl) => {
    const response = await put({ ...PROVIDER, baseUrl }, "inside");
    expect([response.status, await response.json()]).toEqual([
      422,
      expect.objectContaining({ errors: [expect.objectContaining({ pointer: "/baseUrl" })] }),
    ]);
    expect(await stored("inside")).toBeNull();
  });

  test.each([
    ["https://LLM.Example.com:8443//v1//", "https://llm.example.com:8443//v1"],
    ["https://llm.example.com", "https://llm.example.com"],
    ["https://llm.example.com:443/a/../v1", "https://llm.example.com/v1"],
    ["https://bücher.example/v1", "https://xn--bcher-kva.example/v1"],
  ])("takes %s as %s", async (baseUrl, shown) => {
    expect((await put({ ...PROVIDER, baseUrl }, "outside")).status).toBe(204);
    expect(await (await get("outside")).json()).toMatchObject({ baseUrl: shown });
  });
});
