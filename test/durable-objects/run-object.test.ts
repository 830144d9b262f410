import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import { DurableObject } from "cloudflare:workers";
import { beforeAll, expect, test, vi } from "vitest";
import { RunObject } from "../../durable-objects/run/run-object.ts";
import { TenantObject } from "../../durable-objects/tenant/tenant-object.ts";
import { WorkspaceObject } from "../../durable-objects/workspace/workspace-object.ts";
import type { RunObjectMethods } from "../../src/capabilities/run.ts";
import type { ArchiveMethods } from "../../src/capabilities/audit.ts";
import type { TenantMethods } from "../../src/capabilities/tenant.ts";
import type { WorkspaceMethods } from "../../src/capabilities/workspace.ts";
import { script } from "../fakes/scripted-model.ts";
import { viewerAs, readLogged } from "../shared/run-object.ts";
import {
  bindings,
  chat,
  runIdOf,
  seedPolicies,
  send,
  splitEvents,
  stateOf,
} from "../shared/worker.ts";

beforeAll(seedPolicies);

const stubOf = (runId: string): DurableObjectStub =>
  bindings.RUNS.get(bindings.RUNS.idFromName(runId));
const events = (runId: string): Promise<Response> =>
  send(`/v1/runs/${runId}/events`, { caller: "acme" });

const rowsOf = (runId: string, sql: string): Promise<readonly Record<string, unknown>[]> =>
  runInDurableObject(stubOf(runId), (_object, state) => readLogged(state.storage.sql, sql));

test("an evicted run answers from storage, byte for byte", async () => {
  const response = await chat([{ text: ["a", "b"] }]);
  const runId = runIdOf(response);
  const whole = await response.text();
  const before = await stateOf(runId);
  await evictDurableObject(stubOf(runId));
  expect(await (await events(runId)).text()).toBe(whole);
  expect(await stateOf(runId)).toEqual(before);
});

test("a run whose loop died continues in a new epoch and withdraws its unfinished text", async () => {
  const again = { text: ["a whole ", "answer"] };
  const response = await chat([{ text: ["half a "], hangs: true, once: "died", later: again }]);
  const runId = runIdOf(response);
  const reader = response.body?.getReader();
  await reader?.read();
  await vi.waitFor(async () => {
    const [row] = await rowsOf(
      runId,
      "SELECT count(*) AS rows FROM events WHERE body LIKE '%text_started%'",
    );
    expect(row?.["rows"]).toBe(1);
  });
  await runInDurableObject(stubOf(runId), (_object, state) => state.abort("crash")).catch(() => {});
  const [after] = await Promise.all([events(runId), reader?.cancel().catch(() => {})]);
  const ended = splitEvents(await after.text());
  const chunks = ended.flatMap((event) => event.chunks);
  expect(ended.at(-1)?.id).toMatch(/^1-/);
  expect(chunks).toContainEqual({
    path: [],
    type: "data",
    data: [{ type: "withdrawn", parts: [0] }],
  });
  const opened = chunks.filter(({ type }) => type === "part-start").map(({ path }) => path);
  const closed = chunks.filter(({ type }) => type === "part-finish").map(({ path }) => path);
  expect([opened, closed]).toEqual([
    [[0], [1]],
    [[0], [1]],
  ]);
  expect(chunks.filter(({ type }) => type === "step-start").length).toBe(1);
  expect(await stateOf(runId)).toMatchObject({ status: "completed", recoveries: 1, steps: 1 });
  const rows = await rowsOf(runId, "SELECT body FROM messages ORDER BY seq");
  expect(JSON.stringify(rows)).not.toContain('half a \\"}');
});

test("a claim that fails half way stores nothing, and can be made again", async () => {
  const principal = { tenantId: "acme", actorId: "user:acme", roles: [], scopes: [] };
  const messages = [{ role: "user", text: script({ text: ["hi"] }) }];
  const body = JSON.stringify({ runId: "run_half", principal, model: "scripted", messages });
  const start = (): Promise<Response> =>
    stubOf("run_half").fetch("https://run/start", { method: "POST", body });
  await runInDurableObject(stubOf("run_half"), (_object, { storage: { sql } }) => {
    const exec = sql.exec.bind(sql);
    sql.exec = ((query: string, ...values: unknown[]) => {
      if (query.includes("INSERT INTO log")) throw new Error("the disk is full");
      return exec(query, ...values);
    }) as SqlStorage["exec"];
  });
  await expect(start()).rejects.toThrow();
  const tables = await runInDurableObject(stubOf("run_half"), (_object, { storage: { sql } }) =>
    sql.exec("SELECT name FROM sqlite_master WHERE name = 'log'").toArray(),
  );
  expect(tables).toEqual([]);
  expect(await (await start()).text()).toContain("hi");
});

test("a request for a run that was never started stores nothing", async () => {
  const stub = stubOf("run_never");
  const headers = { "x-viewer": JSON.stringify(viewerAs("acme")) };
  const answer = await stub.fetch("https://run/events", { headers });
  expect(answer.headers.get("x-run-answer")).toBe("unknown");
  const tables = await runInDurableObject(stub, (_object, state) =>
    state.storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_%' ESCAPE '\\'")
      .toArray(),
  );
  expect(tables).toEqual([]);
});

test("a run can be claimed once", async () => {
  const response = await chat([{ text: ["hi"] }]);
  const runId = runIdOf(response);
  await response.text();
  const principal = { tenantId: "acme", actorId: "user:acme", scopes: [], roles: [] };
  const again = await stubOf(runId).fetch("https://run/start", {
    method: "POST",
    body: JSON.stringify({ runId, principal, model: "x", messages: [] }),
  });
  expect(again.headers.get("x-run-answer")).toBe("other_request");
});

test("deltas share rows, and each event keeps its own number", async () => {
  const text = Array.from({ length: 400 }, (_, index) => `w${index} `);
  const response = await chat([{ text }]);
  const runId = runIdOf(response);
  const seen = splitEvents(await response.text());
  const rows = await rowsOf(runId, "SELECT first_seq, last_seq FROM events ORDER BY first_seq");
  expect(rows.length).toBeLessThan(40);
  expect(rows.at(-1)?.["last_seq"]).toBe(seen.length);
  expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => `0-${index + 1}`));
});

test("a reader that does not read delays neither the run nor other readers, and misses no event", async () => {
  const text = Array.from({ length: 120 }, (_, index) => `${index} ${"x".repeat(8_000)}`);
  const response = await chat([{ text }]);
  const runId = runIdOf(response);
  const slow = await events(runId);
  const whole = await response.text();
  expect(await stateOf(runId)).toMatchObject({ status: "completed" });
  expect((await slow.text()).replace(/^:.*\n\n/gm, "")).toBe(whole);
});

test("a redacted record is stored beside the raw arguments", async () => {
  const call = { name: "core__calculate", args: '{"expression":"6 * 7"}' };
  const response = await chat([{ calls: [call] }, { text: ["ok"] }]);
  const runId = runIdOf(response);
  await response.text();
  const [row] = await rowsOf(runId, "SELECT arguments_text, args FROM invocations");
  expect(row).toEqual({
    arguments_text: call.args,
    args: '{"expression":"6 * 7"}',
  });
});

test("the arguments of a refused call reach no event and no reader", async () => {
  const call = {
    name: "core__get_current_time",
    args: '{"timeZone":"UTC","hunter3":"hunter2"}',
  };
  const response = await chat([{ calls: [call] }, { text: ["ok"] }]);
  const runId = runIdOf(response);
  expect(await response.text()).not.toMatch(/hunter/);
  const logged = await rowsOf(runId, "SELECT body FROM events");
  expect(JSON.stringify(logged)).not.toMatch(/hunter/);
  const [row] = await rowsOf(runId, "SELECT arguments_text, args FROM invocations");
  expect(row).toEqual({ arguments_text: call.args, args: null });
});

/** The platform makes each of these an RPC method, whatever TypeScript says of its visibility. */
function methodsOf({ prototype }: { readonly prototype: object }): readonly string[] {
  if (prototype === DurableObject.prototype) return [];
  const inherited = methodsOf(Object.getPrototypeOf(prototype).constructor);
  return [...new Set([...inherited, ...Object.getOwnPropertyNames(prototype)])];
}

/** The compiler refuses a list that lacks a method of the interface, or has another one. */
type MethodsOf<Interface> = Readonly<Record<keyof Interface, "rpc">>;
const RUN: MethodsOf<RunObjectMethods> = {
  state: "rpc",
  cancel: "rpc",
  steer: "rpc",
  resolveOutcome: "rpc",
  undo: "rpc",
  undone: "rpc",
  review: "rpc",
  page: "rpc",
  call: "rpc",
  context: "rpc",
  evidence: "rpc",
  replay: "rpc",
  files: "rpc",
  image: "rpc",
  result: "rpc",
  approval: "rpc",
  decide: "rpc",
  invoke: "rpc",
  shown: "rpc",
  conversation: "rpc",
  turns: "rpc",
  rename: "rpc",
  giveFeedback: "rpc",
  busy: "rpc",
  erase: "rpc",
  eraseConversation: "rpc",
  openTurn: "rpc",
  readWindow: "rpc",
  keepTurn: "rpc",
  readRange: "rpc",
  keepSummary: "rpc",
};
const TENANT: MethodsOf<TenantMethods & ArchiveMethods> = {
  keepArchived: "rpc",
  readArchived: "rpc",
  planArchived: "rpc",
  dropArchived: "rpc",
  policy: "rpc",
  change: "rpc",
  assistants: "rpc",
  assistant: "rpc",
  changeAssistant: "rpc",
  reserve: "rpc",
  peek: "rpc",
  settle: "rpc",
  release: "rpc",
  consents: "rpc",
  revokeConsent: "rpc",
  takePlace: "rpc",
  receive: "rpc",
  record: "rpc",
  runs: "rpc",
  conversations: "rpc",
  approvals: "rpc",
  outcomes: "rpc",
  escalations: "rpc",
  actOnEscalation: "rpc",
  audit: "rpc",
  metrics: "rpc",
  spending: "rpc",
  storageUse: "rpc",
  feedback: "rpc",
  usedNames: "rpc",
  erasePerson: "rpc",
  personErasure: "rpc",
  notifications: "rpc",
  retryNotification: "rpc",
};
const WORKSPACE: MethodsOf<WorkspaceMethods> = {
  call: "rpc",
  recheck: "rpc",
  exportPerson: "rpc",
  erasePerson: "rpc",
};

/** Names the methods that an object has beyond its list and those that the platform calls. */
function unlisted(object: { readonly prototype: object }, listed: object): readonly string[] {
  const known = new Set(["constructor", "fetch", "alarm", ...Object.keys(listed)]);
  return methodsOf(object).filter((name) => !known.has(name));
}

test.each([
  ["run", RunObject, RUN],
  ["tenant", TenantObject, TENANT],
  ["workspace", WorkspaceObject, WORKSPACE],
])("the object of a %s answers the RPC of its interface, and no other", (_, object, listed) => {
  expect(methodsOf(object)).toEqual(expect.arrayContaining(Object.keys(listed)));
  expect(unlisted(object, listed)).toEqual([]);
});

test("a method that no interface names is found, protected or not", () => {
  class Leaking extends RunObject {
    protected storedClaim(): void {}
  }
  expect(unlisted(Leaking, RUN)).toEqual(["storedClaim"]);
});
