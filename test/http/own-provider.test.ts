import { listDurableObjectIds } from "cloudflare:test";
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { createKeyRing } from "../../src/adapters/keys/key-ring.ts";
import { requireEnv } from "../../src/env.ts";
import { OWN_HOST, REFUSALS, type OwnVisit } from "../fakes/own-provider.ts";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { ELSEWHERE, type Visit } from "../fakes/shop.ts";
import {
  bindings,
  type Caller,
  chunksOf,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
} from "../shared/worker.ts";

beforeAll(seedPolicies);
beforeEach(visits);

/** Lines of the log. */
const printed: string[] = [];
beforeEach(() => {
  printed.length = 0;
  for (const method of ["log", "warn", "error"] as const) {
    vi.spyOn(console, method).mockImplementation((line: unknown) => {
      printed.push(String(line));
    });
  }
});
afterEach(() => {
  vi.restoreAllMocks();
});

const KEY = "own-key-0123456789-abcdef";
/** The keys of the deployment in tests. */
const DEPLOYMENT_KEYS = ["sk-test-secret", "sk-ant-test-secret"];
const SUM = { name: "core__calculate", args: '{"expression":"6*7"}' };

/** What the tenants' providers received since the last time. */
async function visits(): Promise<readonly OwnVisit[]> {
  return (await fetch(`${OWN_HOST}/visits`)).json();
}

interface Brought {
  readonly id: string;
  readonly path?: string;
  readonly wire?: string;
  readonly apiKey?: string;
  readonly models?: readonly object[];
  readonly caller?: Caller;
}

async function bring({ id, path = "/v1", caller = "supplier", ...rest }: Brought): Promise<void> {
  const { wire = "openai", apiKey = KEY, models = [{ name: "m1" }] } = rest;
  const response = await send(`/v1/providers/${id}`, {
    caller,
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ wire, baseUrl: `${OWN_HOST}${path}`, apiKey, models }),
  });
  if (response.status !== 204) throw new Error(await response.text());
}

const drop = (id: string): Promise<Response> =>
  send(`/v1/providers/${id}`, { caller: "supplier", method: "DELETE" });

/** Starts a run on a model of a provider. */
function ask(model: string, content: string, more: object = {}): Promise<Response> {
  return postChat({ model, messages: [{ role: "user", content }], ...more });
}

const run = (model: string, ...steps: readonly ScriptedStep[]): Promise<Response> =>
  ask(model, script(...steps));

describe.each([
  ["openai", `Bearer ${KEY}`, null, "/v1/chat/completions"],
  ["responses", `Bearer ${KEY}`, null, "/v1/responses"],
  ["anthropic", null, KEY, "/v1/messages"],
])("on the wire %s", (wire, authorization, apiKey, path) => {
  test("a run asks the tenant's provider with its key alone, tools included", async () => {
    await bring({ id: wire, wire, models: [{ name: "org/m1" }] });
    const response = await run(`providers/${wire}/org/m1`, { calls: [SUM] }, { text: ["Done."] });
    const stream = JSON.stringify(await chunksOf(response));
    expect(stream).toContain("Done.");
    const visit = { path, keys: [authorization, apiKey], model: "org/m1" };
    expect(await visits()).toEqual([visit, visit]);
    const state = await stateOf(runIdOf(response));
    expect(state).toMatchObject({ status: "completed", model: `providers/${wire}/org/m1` });
  });
});

test("a new key holds for the next model call of a run that goes on", async () => {
  await bring({ id: "rotated" });
  const running = await run("providers/rotated/m1", { calls: [SUM], holds: "rotation" });
  await expect.poll(async () => (await visits()).length).toBe(1);
  await bring({ id: "rotated", apiKey: "a-newer-key-of-the-tenant" });
  await fetch(releaseUrl("rotation"));
  await running.text();
  expect((await visits()).map(({ keys }) => keys[0])).toEqual(["Bearer a-newer-key-of-the-tenant"]);
});

describe("is refused before any object wakes", () => {
  test.each([
    ["an unknown provider", "providers/nobody/m1"],
    ["a provider of another tenant", "providers/theirs/m1"],
    ["a model that the tenant does not allow", "providers/ours/m2"],
    ["a model whose name is a part of an allowed one", "providers/ours/m"],
    ["no model", "providers/ours/"],
    ["no provider", "providers//m1"],
    ["a provider id that cannot be", "providers/a.b/m1"],
    ["an id without its prefix", "ours/m1"],
    ["the prefix alone", "providers/"],
  ])("%s", async (_name, model) => {
    await bring({ id: "ours" });
    await bring({ id: "theirs", caller: "rivalSupplier" });
    const before = (await listDurableObjectIds(bindings.RUNS)).length;
    const response = await ask(model, "hi");
    const unknown = await ask("providers/unknown/m1", "hi");
    expect([response.status, await response.json()]).toEqual([422, await unknown.json()]);
    expect((await listDurableObjectIds(bindings.RUNS)).length).toBe(before);
    expect(await visits()).toEqual([]);
  });

  test("a provider whose key does not open", async () => {
    await bring({ id: "damaged" });
    await damage("damaged");
    const before = (await listDurableObjectIds(bindings.RUNS)).length;
    const response = await ask("providers/damaged/m1", "hi");
    expect([response.status, await response.json()]).toEqual([
      503,
      expect.objectContaining({ code: "provider_unreadable" }),
    ]);
    expect((await listDurableObjectIds(bindings.RUNS)).length).toBe(before);
  });
});

/** Changes a stored provider as an attacker on the namespace would. */
async function damage(id: string): Promise<void> {
  const value = (await bindings.CONNECTIONS.get(`provider/acme/${id}`)) ?? "";
  await bindings.CONNECTIONS.put(`provider/acme/${id}`, value.replace(/.{4}"}$/, 'AAAA"}'));
}

describe("ends the run, and asks no other model,", () => {
  test.each([
    ["when the provider is deleted", "provider_missing", () => drop("lost")],
    [
      "when the model is not allowed any more",
      "provider_missing",
      () => bring({ id: "lost", models: [{ name: "scripted" }] }),
    ],
    ["when the key does not open", "provider_unreadable", () => damage("lost")],
  ])("%s", async (name, code, lose) => {
    await bring({ id: "lost", models: [{ name: "scripted" }, { name: "m1" }] });
    const holds = name.replaceAll(" ", "-");
    const step = { text: ["Working."], calls: [SUM], holds };
    const running = await run("providers/lost/m1", step, { text: ["Never said."] });
    await expect.poll(async () => (await visits()).length).toBe(1);
    await lose();
    await fetch(releaseUrl(holds));
    const stream = await running.text();
    expect(stream).toContain(`"code":"${code}"`);
    expect(stream).not.toContain("Never said.");
    expect(await stateOf(runIdOf(running))).toMatchObject({ status: "failed", error: { code } });
    expect(await visits()).toEqual([]);
  });
});

test("a redirect is a failure, and nothing goes where it leads", async () => {
  await bring({ id: "moved", path: "/moved/v1" });
  const response = await run("providers/moved/m1", { text: ["hi"] });
  expect(await response.text()).toContain('"code":"upstream_status"');
  const seen: readonly Visit[] = await (await fetch(`${ELSEWHERE}/visits`)).json();
  // Tests of other files visited other hosts.
  expect(seen.filter(({ host }) => host === new URL(ELSEWHERE).host)).toEqual([]);
});

test("an address that was sealed before the rules refused it is never asked", async () => {
  await bring({ id: "sealed" });
  const inside = await sealedInside("sealed");
  await bindings.CONNECTIONS.put("provider/acme/sealed", inside);
  expect((await ask("providers/sealed/m1", "hi")).status).toBe(503);
  expect(await visits()).toEqual([]);
});

/** Seals a provider with an address that no request could store. */
async function sealedInside(id: string): Promise<string> {
  const { connectionKeys } = requireEnv(bindings as never);
  const ring = createKeyRing(connectionKeys, (n) => crypto.getRandomValues(new Uint8Array(n)));
  const provider = { wire: "openai", baseUrl: "https://127.0.0.1/v1", apiKey: KEY };
  const text = JSON.stringify({ ...provider, models: [{ name: "m1" }] });
  return JSON.stringify(await ring.seal(text, ["provider", "acme", id]));
}

describe("a provider that repeats its key", () => {
  async function sinksOf(response: Response): Promise<readonly string[]> {
    const runId = runIdOf(response);
    const routes = [`/v1/runs/${runId}`, `/v1/runs/${runId}/events`, "/v1/runs"];
    const read = async (path: string, caller: Caller): Promise<string> =>
      (await send(path, { caller })).text();
    const seen = [await response.text()];
    seen.push(...printed);
    for (const route of routes) seen.push(await read(route, "acme"));
    seen.push(await read("/v1/audit", "auditor"), await read("/v1/providers", "supplier"));
    for (const kv of [bindings.CONNECTIONS, bindings.IDEMPOTENCY, bindings.POLICY]) {
      const { keys } = await kv.list();
      for (const { name } of keys) seen.push(name, (await kv.get(name)) ?? "");
    }
    return seen;
  }

  test.each(["openai", "responses", "anthropic"])("in its answer, on %s", async (wire) => {
    await bring({ id: `echo-${wire}`, wire, path: "/echo/v1" });
    const title = { name: "core__generate_title", args: '{"title":"Key @A@@B@"}' };
    const model = `providers/echo-${wire}/m1`;
    const steps = [
      {
        text: ["It is @A@", "@B@, you see. ", "@A@@B@", " or @C@", "@D@, ", "@C@@D@"],
        reasoning: "sealed @a@@b@",
      },
      { calls: [title, { name: "core__@A@@B@", args: "{}" }] },
    ].toReversed();
    const response = await run(model, ...steps, { text: ["Done."] });
    const sinks = await sinksOf(response);
    const encoded = btoa(`user:${KEY}`).slice(8, -4);
    expect(sinks[0]).toContain("•••, you see. ");
    expect(sinks[0]).toContain('{"title":"Key •••"}');
    for (const sink of sinks) {
      expect(sink).not.toContain(KEY);
      expect(sink).not.toContain(encoded);
    }
    const next = await ask(model, "what do you see?", { previousRunId: runIdOf(response) });
    expect(await next.text()).not.toContain(KEY);
  });

  test.each(Object.entries(REFUSALS))("in its error%s", async (form, repeat) => {
    const apiKey = "own/key+0123456789=abcdef";
    await bring({ id: `refuses${form}`, path: `/refuse${form}/v1`, apiKey });
    const response = await run(`providers/refuses${form}/m1`, { text: ["hi"] });
    const sinks = await sinksOf(response);
    expect(sinks[0]).toContain("HTTP 401");
    expect(printed.join()).toContain('"status":401');
    // The ends of an encoded key may stay, because they share characters with their neighbours.
    const secret = repeat(apiKey).slice(4, -8);
    for (const sink of sinks) expect(sink).not.toContain(secret);
  });
});

test("no request to a tenant's provider carries a key of the deployment", async () => {
  await bring({ id: "plain", models: [{ name: "scripted" }] });
  await (await run("providers/plain/scripted", { text: ["hi"] })).text();
  const [visit] = await visits();
  for (const key of DEPLOYMENT_KEYS) expect(JSON.stringify(visit)).not.toContain(key);
  expect(visit?.keys).toEqual([`Bearer ${KEY}`, null]);
});

test("reasoning that the tenant's model sealed goes back to it, and not to a model of the deployment", async () => {
  await bring({ id: "thinks", wire: "anthropic", models: [{ name: "scripted-a" }] });
  const step = { reasoning: "sealed", text: ["Done."] };
  const first = await run("providers/thinks/scripted-a", step);
  const previousRunId = runIdOf(first);
  await first.text();
  const again = await ask("providers/thinks/scripted-a", "what?", { previousRunId });
  expect(await again.text()).toContain("SEALED");
  const elsewhere = await ask("scripted-a", "what?", { previousRunId });
  expect(await elsewhere.text()).not.toContain("SEALED");
});

test("an assistant may name a tenant's model, and its runs use it", async () => {
  await bring({ id: "staff" });
  const put = (model: string): Promise<Response> =>
    send("/v1/assistants/own", {
      caller: "acme",
      method: "PUT",
      headers: { "content-type": "application/json", "if-none-match": "*" },
      body: JSON.stringify({ model }),
    });
  expect((await put("providers/nobody/m1")).status).toBe(422);
  expect((await put("providers/staff/m1")).status).toBe(200);
  const body = { messages: [{ role: "user", content: "hello" }], assistantId: "own" };
  await (await postChat(body)).text();
  expect(await visits()).toMatchObject([{ model: "m1" }]);
  expect((await postChat({ ...body, model: "scripted" })).status).toBe(422);
  await drop("staff");
  const unusable = await postChat(body);
  expect([unusable.status, await unusable.json()]).toEqual([
    422,
    expect.objectContaining({ code: "assistant_unusable" }),
  ]);
});
