import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { EndedCall } from "../../src/capabilities/hook.ts";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { crash, transcriptOf, untilState } from "../shared/run-object.ts";
import {
  chunksOf,
  govern,
  postChat,
  putConnection,
  runIdOf,
  seedPolicies,
  send,
  type WireChunk,
} from "../shared/worker.ts";
import { auditOf } from "../shared/tenant-notices.ts";
import { invoke, read } from "../shared/invoke.ts";
import { survey } from "../workers/lab-details.ts";
import { labHooks } from "../workers/lab-hooks.ts";

const SECRET = "zq7Kp3vXLm9tR2";
/** What people are told. No model may ever see it. */
const PLAN = "plan-of-the-cellar";
/** What nobody is told. */
const KEEPER = "keeper-of-the-house";

beforeAll(async () => {
  await seedPolicies();
  await putConnection("survey", { kind: "bearer", token: SECRET }, "bendable");
  const grants = [{ connectionId: "survey", tools: ["lab__plan_house"] }];
  await govern({ allowedTools: ["lab__plan_house"], grants });
});
beforeEach(() => {
  labHooks.length = 0;
  Object.assign(survey, { details: { plan: PLAN, keeper: KEEPER }, found: [], runs: 0 });
});

const CALL: ScriptedStep = { calls: [{ id: "c", name: "lab__plan_house", args: "{}" }] };
/** The model answers with the request that it got. */
const SHOWS: ScriptedStep = { shows: true };

function ask(steps: readonly ScriptedStep[], more: object = {}): Promise<Response> {
  const messages = [{ role: "user", content: script(...steps) }];
  return postChat({ messages, connectionIds: ["survey"], ...more }, "bendable");
}

interface Told {
  readonly runId: string;
  readonly chunks: readonly WireChunk[];
  /** The details of the result. */
  readonly details: unknown;
  /** What the model said, which is the request that it got. */
  readonly asked: string;
}

async function surveyed(steps: readonly ScriptedStep[] = [CALL, SHOWS], more = {}): Promise<Told> {
  const response = await ask(steps, more);
  const runId = runIdOf(response);
  const chunks = await chunksOf(response);
  const result = chunks.find(({ type }) => type === "result");
  const asked = chunks
    .filter(({ path }) => Array.isArray(path))
    .map(({ textDelta }) => (typeof textDelta === "string" ? textDelta : ""))
    .join("");
  return { runId, chunks, details: artifactOf(result), asked };
}

function artifactOf(chunk: WireChunk | undefined): unknown {
  return (chunk?.["artifact"] as { readonly details?: unknown } | undefined)?.details;
}

/** What the tool had found so far, as readers saw it. */
function foundIn(chunks: readonly WireChunk[]): readonly unknown[] {
  return chunks
    .flatMap(({ data }) => (Array.isArray(data) ? (data as Record<string, unknown>[]) : []))
    .filter(({ type }) => type === "tool-progress")
    .map(({ details }) => details);
}

async function textOf(path: string): Promise<string> {
  return (await send(path, { caller: "bendable" })).text();
}

describe("what a tool tells people", () => {
  test("stands in the result, a direct call and the conversation, and no model reads it", async () => {
    const { runId, details, asked } = await surveyed();
    expect(details).toEqual({ value: { plan: PLAN } });
    expect(asked).toContain('\\"rooms\\":4');
    expect(asked).not.toContain(PLAN);
    const later = await surveyed([SHOWS], { previousRunId: runId });
    expect(later.asked).toContain('\\"rooms\\":4');
    expect(later.asked).not.toContain(PLAN);
    const messages = await textOf(`/v1/conversations/${runId}/messages`);
    for (const seen of [messages, await textOf(`/v1/conversations/${runId}/export`)]) {
      expect(seen).toContain(PLAN);
    }
    const told = JSON.stringify(await transcriptOf(runId, "bendable"));
    const audited = JSON.stringify(await auditOf("bendable"));
    for (const seen of [told, audited]) expect(seen).not.toContain(PLAN);
    expect([asked, messages, audited].join()).not.toContain(KEEPER);
    const direct = await read(
      await invoke(
        "lab__plan_house",
        {},
        { caller: "bendable", key: "direct", more: { connectionIds: ["survey"] } },
      ),
    );
    expect(direct).toMatchObject({ status: 200, details: { value: { plan: PLAN } } });
  });

  test("has its place on each wire that has one", async () => {
    const { runId } = await surveyed();
    const told = async (wire: string) => textOf(`/v1/runs/${runId}/events?wire=${wire}`);
    const value = `"value":{"plan":"${PLAN}"}`;
    expect(await told("ui-message")).toMatch(new RegExp(`data-tool-details.*${value}`));
    expect(await told("ag-ui")).toMatch(new RegExp(`interlock:tool_details.*${value}`));
  });

  test("is read back after a crash, and the tool does not run again", async () => {
    const { runId } = await surveyed();
    await crash(runId);
    await untilState(runId, { status: "completed" }, "bendable");
    const again = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller: "bendable" }));
    const results = again.filter(({ type }) => type === "result");
    expect(results.map(artifactOf)).toEqual([{ value: { plan: PLAN } }]);
    expect(survey.runs).toBe(1);
  });

  test("holds no secret of the connection, and nothing hidden of a stranger", async () => {
    survey.details = { plan: `key SECRET, ![x](https://evil.example/a) a\u200bb` };
    const { details, chunks } = await surveyed();
    expect(details).toEqual({ value: { plan: expect.stringMatching(/^key •••/) } });
    expect(JSON.stringify(chunks)).not.toMatch(/zq7Kp3vXLm9tR2|\u200b|!\[x\]/);
  });

  test.each([
    ["does not fit the contract", { plan: 7 }, "invalid"],
    ["has a field of no contract", { plan: PLAN, more: 1 }, "invalid"],
    ["is no object", [PLAN], "invalid"],
    ["is too large", { plan: "x".repeat(20_000) }, "too_large"],
  ])("that %s is left out, and the call has happened all the same", async (_, told, why) => {
    survey.details = told;
    const { runId, details, chunks } = await surveyed();
    expect(details).toEqual({ leftOut: why });
    expect(chunks.find(({ type }) => type === "result")).toMatchObject({ isError: false });
    const { toolCalls } = await untilState(runId, { status: "completed" }, "bendable");
    expect(toolCalls.map(({ outcome }) => outcome)).toEqual(["SUCCESS"]);
    expect(survey.runs).toBe(1);
  });

  test("is shown to the hooks, and their veto withholds it", async () => {
    const seen: EndedCall[] = [];
    labHooks.push({
      after: async (call) => {
        seen.push(call);
        return { code: "not_theirs", message: "not for them" };
      },
    });
    const { details, chunks } = await surveyed();
    expect(seen[0]?.details).toEqual({ value: { plan: PLAN } });
    expect(details).toBeUndefined();
    expect(JSON.stringify(chunks)).not.toContain(PLAN);
  });
});

describe("what a tool has found so far", () => {
  test("is shown while it runs, and the result replaces it; no model reads it", async () => {
    survey.found = [{ plan: "one" }, { plan: "one, two", doors: [{ wide: 1 }], keeper: KEEPER }];
    const { chunks, details, asked } = await surveyed();
    expect(foundIn(chunks)).toEqual([{ plan: "one" }, { plan: "one, two", doors: [{ wide: 1 }] }]);
    expect(details).toEqual({ value: { plan: PLAN } });
    expect(asked).not.toMatch(/one, two/);
    expect(JSON.stringify(chunks)).not.toContain(KEEPER);
  });

  test("holds no secret, and what does not fit or is too large is not shown", async () => {
    survey.found = [{ plan: "SECRET" }, { plan: 7 }, { plan: "x".repeat(20_000) }];
    const { chunks } = await surveyed();
    expect(foundIn(chunks)).toEqual([{ plan: "•••" }, undefined, undefined]);
    expect(JSON.stringify(chunks)).not.toContain(SECRET);
  });

  test("is bounded over all reports of one call", async () => {
    survey.found = Array.from({ length: 22 }, (_, at) => ({ plan: `${at}${"x".repeat(14_000)}` }));
    const { chunks } = await surveyed();
    const shown = foundIn(chunks).filter((found) => found !== undefined);
    expect(JSON.stringify(shown).length).toBeLessThan(270_000);
    expect(shown.length).toBeGreaterThan(10);
  });
});
