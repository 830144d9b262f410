import * as v from "valibot";
import { beforeAll, describe, expect, test } from "vitest";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import type { PublishedContract } from "../../src/contracts/catalog/published-contract.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { createApp } from "../../src/http/app.ts";
import type { Services } from "../../src/http/services.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { passing } from "../../src/testing/fakes/runner-ports.ts";
import { MemoryLog } from "../../src/testing/memory/memory-log.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { askFor, callOf, viewOf } from "../shared/people.ts";
import { seedPolicies, send } from "../shared/worker.ts";
import type { TOKENS } from "../shared/tokens.ts";

beforeAll(seedPolicies);

async function published(path: string): Promise<PublishedContract> {
  const response = await send(path, { caller: "acme" });
  expect(response.status).toBe(200);
  return response.json();
}

test("lists each tool with its class and lifecycle", async () => {
  const response = await send("/v1/tools", { caller: "acme" });
  const { tools } = await response.json<{ tools: unknown[] }>();
  expect(tools[0]).toEqual({
    name: "core__get_current_time",
    version: "1.0.0",
    description: expect.any(String),
    effect: "read_only",
    sideEffectClass: "READ_ONLY",
    lifecycle: { status: "active", sunsetDate: null, replacement: null },
    inputSchema: expect.objectContaining({ type: "object" }),
  });
});

test("people read the title of a tool in the catalog, in the chat and, beside its id, in an approval", async () => {
  const listed = await send("/v1/tools", { caller: "ann" });
  const { tools } = await listed.json<{ tools: { name: string; description: string }[] }>();
  expect(tools.find(({ name }) => name === "lab__peek")).toMatchObject({
    title: "Private records",
    category: "records",
  });
  expect(tools.find(({ name }) => name === "lab__watch")).not.toHaveProperty("title");

  const { approvalId, runId } = await askFor([callOf("lab__peek", { what: "all" })]);
  const { title, packet, lines } = await viewOf(approvalId, "ann");
  const both = "Private records (lab__peek)";
  expect([title, packet.actionName]).toEqual([
    both,
    { title: both, tool: "lab__peek", toolTitle: "Private records", version: "1.0.0" },
  ]);
  expect(lines).toContainEqual(
    expect.objectContaining({ label: "Tool", text: `${both}, version 1.0.0` }),
  );
  const events = await (await send(`/v1/runs/${runId}/events`, { caller: "ann" })).text();
  expect(events).toContain(
    '[{"type":"tool-title","toolCallId":"call_1","title":"Private records"}]',
  );
});

test("publishes a tool's contract, with Interlock's own fields beside it", async () => {
  const { contract, interlock } = await published("/v1/tools/core__generate_title");
  expect(contract.identity).toMatchObject({ name: "core__generate_title", version: "1.0.0" });
  expect(contract.transactional.side_effect_class).toBe("LOW_RISK_INTERNAL");
  expect(interlock.capabilities).toEqual(["runTitle"]);
});

test("a contract that the caller knows is not sent again", async () => {
  const path = "/v1/tools/core__calculate";
  const first = await send(path, { caller: "acme" });
  const etag = first.headers.get("etag") ?? "";
  const { interlock } = await first.json<PublishedContract>();
  expect(etag).toBe(`"${interlock.contract_hash}"`);
  const again = await send(path, { caller: "acme", headers: { "if-none-match": etag } });
  expect([again.status, await again.text()]).toEqual([304, ""]);
  const weak = await send(path, { caller: "acme", headers: { "if-none-match": `"x", W/${etag}` } });
  expect(weak.status).toBe(304);
  const other = await send(path, { caller: "acme", headers: { "if-none-match": '"x"' } });
  expect(other.status).toBe(200);
});

/** What a client can tell one answer from another by. */
async function answerTo(path: string, caller: keyof typeof TOKENS): Promise<unknown> {
  const response = await send(path, { caller });
  return [response.status, [...response.headers], await response.text()];
}

test.each<[string, string, keyof typeof TOKENS]>([
  ["that the policy does not allow", "/v1/tools/core__calculate", "strict"],
  ["of a tenant without a policy", "/v1/tools/core__calculate", "bare"],
  ["of a tenant with a garbled policy", "/v1/tools/core__calculate", "garbled"],
  ["in a version that is not there", "/v1/tools/core__calculate?version=9.9.9", "acme"],
  ["in a version that is empty", "/v1/tools/core__calculate?version=", "acme"],
  ["whose name every object has", "/v1/tools/constructor", "acme"],
])("a tool %s is answered like one that never was", async (_name, path, caller) => {
  const answer = await answerTo(path, caller);
  expect(answer).toEqual(await answerTo("/v1/tools/core__nothing", caller));
  expect(answer).toEqual([404, expect.any(Array), expect.stringContaining('"tool_not_found"')]);
});

describe("of a tool in several versions", () => {
  const versionOf = (version: string, lifecycle: object = {}): AnyToolContract =>
    defineTool({
      name: "test__many",
      version,
      description: "Many.",
      input: v.strictObject({}),
      output: v.strictObject({}),
      sideEffectClass: "READ_ONLY",
      effect: "read_only",
      redaction: { args: [], output: [] },
      capabilities: [],
      lifecycle: { status: "active", sunsetDate: null, replacement: null, ...lifecycle },
      execute: () => ok({}),
    });
  const contracts = registerContracts([
    versionOf("1.0.0", { status: "deprecated", sunsetDate: "2026-02-01" }),
    versionOf("1.5.0"),
    versionOf("2.0.0"),
    versionOf("0.9.0", { status: "deprecated", sunsetDate: "2026-01-01" }),
  ]);

  const principal = { tenantId: "t", actorId: "user:a", roles: [], scopes: ["tools:read"] };

  /** Answers requests with these contracts, once the source gives them. */
  function appOver(entry: object, load: () => Promise<unknown>, clock = new FakeClock()) {
    const policy = policyOf({ allowedTools: [{ id: "test__many", ...entry }] });
    return createApp({
      authenticator: { authenticate: () => Promise.resolve(ok(principal)) },
      policies: { load: () => Promise.resolve({ policy }) },
      limits: { callers: { admit: () => Promise.resolve(true) } },
      clock,
      log: new MemoryLog(),
      source: { load },
      pages: [],
    } as unknown as Services);
  }

  async function versionFor(entry: object, query = ""): Promise<string | number> {
    const app = appOver(entry, () => Promise.resolve(contracts));
    const response = await app.request(`https://interlock.test/v1/tools/test__many${query}`);
    if (response.status !== 200) return response.status;
    return (await response.json<PublishedContract>()).contract.identity.version;
  }

  test.each<[string, object, string, string | number]>([
    ["the newest active one", {}, "", "2.0.0"],
    ["the one that policy prefers", { versions: ["1.0.0", "2.0.0"] }, "", "1.0.0"],
    ["another that policy allows", { versions: ["1.0.0", "2.0.0"] }, "?version=2.0.0", "2.0.0"],
    ["none that policy leaves out", { versions: ["1.0.0"] }, "?version=2.0.0", 404],
    [
      "the canary, when asked for it",
      { versions: ["1.0.0"], canary: { version: "2.0.0", percent: 0 } },
      "?version=2.0.0",
      "2.0.0",
    ],
    ["none whose day has come", {}, "?version=0.9.0", 404],
    ["none whose day has come, whatever policy says", { versions: ["0.9.0"] }, "", 404],
  ])("a tenant gets %s", async (_name, entry, query, expected) => {
    expect(await versionFor(entry, query)).toBe(expected);
  });

  test("a source that never answers ends in a refusal after a bounded time", async () => {
    const clock = new FakeClock();
    const startMs = clock.nowMs();
    const app = appOver({}, () => new Promise(() => {}), clock);
    const asked = Promise.resolve(app.request("https://interlock.test/v1/tools"));
    const response = await passing(asked, clock);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.json()).toMatchObject({ code: "tools_unavailable" });
    expect(clock.nowMs() - startMs).toBe(5_000);
  });
});
