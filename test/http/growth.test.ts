import { beforeAll, expect, test } from "vitest";
import { verifyChain } from "../../cli/audit/verify-chain.ts";
import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import type { RunSummary } from "../../src/protocol/run/summary.ts";
import { releaseUrl, script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { finish, untilKept } from "../shared/conversations.ts";
import { image, SEES, text } from "../shared/file-messages.ts";
import { dataUrl } from "../shared/files.ts";
import { crash, refusalOf, rowsOf } from "../shared/run-object.ts";
import {
  chat,
  govern,
  postChat,
  runIdOf,
  seedPolicies,
  send,
  type Caller,
} from "../shared/worker.ts";
import { page } from "../workers/lab-tools.ts";

beforeAll(seedPolicies);

const READ = { name: "lab__read_page", args: '{"url":"https://pages.test"}' };
const PAGE_CHARS = 20_000;

/** Starts a run with a message of this length, and lets it end. */
async function say(chars: number, caller: Caller, previousRunId?: string): Promise<string> {
  const content = JSON.stringify({ steps: [{ text: ["ok"] }], pad: "x".repeat(chars) });
  const messages = [{ role: "user", content }];
  const response = await postChat({ messages, ...(previousRunId && { previousRunId }) }, caller);
  if (response.status !== 200) throw new Error(await response.text());
  await response.text();
  return runIdOf(response);
}

/** Lets a model read a large page in each of many steps; answers the stream. */
async function readAndRead(caller: Caller): Promise<{ runId: string; stream: string }> {
  page.text = "x".repeat(PAGE_CHARS);
  const steps = Array.from({ length: 60 }, () => ({ calls: [READ, READ] }));
  const response = await chat(steps, caller);
  return { runId: runIdOf(response), stream: await response.text() };
}

/** What an ended run stores, as the run list tells it. */
async function storedBytesOf(runId: string, caller: Caller): Promise<number> {
  const find = async (): Promise<RunSummary | undefined> => {
    const { runs } = await (
      await send("/v1/runs?limit=100", { caller })
    ).json<{
      runs: readonly RunSummary[];
    }>();
    return runs.find((run) => run.runId === runId && run.endedAt !== undefined);
  };
  await expect.poll(find).toBeDefined();
  return (await find())?.storedBytes ?? 0;
}

test("a short request copies no conversation that is longer than the policy allows", async () => {
  await govern({ allowedTools: [], budgets: { maxHistoryBytes: 50_000 } });
  const short = await say(10_000, "hoarder");
  const long = await say(60_000, "hoarder");
  const follow = (previousRunId: string): Promise<Response> =>
    postChat({ messages: [{ role: "user", content: script() }], previousRunId }, "hoarder");
  expect(await refusalOf(await follow(long))).toEqual([422, "conversation_too_long"]);
  const continued = await follow(short);
  expect(continued.status).toBe(200);
  await continued.text();
});

test("a conversation over a mebibyte goes on with its newest turns, and the evidence says so", async () => {
  await govern({ allowedTools: [] });
  const first = await say(900_000, "bendable");
  const second = await say(200_000, "bendable", first);
  const messages = [{ role: "user", content: "what do you see?" }];
  const third = await postChat({ messages, previousRunId: second }, "bendable");
  const seen = await third.text();
  expect(seen.length).toBeGreaterThan(200_000);
  expect(seen.length).toBeLessThan(900_000);
  const context = await send(`/v1/runs/${runIdOf(third)}/context`, { caller: "bendable" });
  expect(await context.json()).toMatchObject({
    history: { after: second, turns: 1, leftOut: 1, hash: expect.stringMatching(/^sha256:/) },
  });
});

test("a run that stored as much as it may ends, in the middle of its calls", async () => {
  const maxStoredBytes = 400_000;
  const budgets = { maxSteps: 100, maxStoredBytes };
  await govern({ allowedTools: ["lab__read_page"], budgets });
  const { runId, stream } = await readAndRead("hoarder");
  expect(stream).toContain("budget_exhausted");
  expect(stream).toContain("stored bytes");
  const stored = await storedBytesOf(runId, "hoarder");
  expect(stored).toBeGreaterThan(maxStoredBytes);
  // What one step of two calls stores, three times.
  expect(stored).toBeLessThan(maxStoredBytes + 3 * 2 * 3 * PAGE_CHARS);
});

test("a person who stored as much as the policy allows starts no run until the window ends", async () => {
  const tenantBudgets = { maxStoredBytesPerActor: 500_000 };
  await govern({ allowedTools: [], tenantBudgets });
  const statuses: number[] = [];
  let last: Response | undefined;
  for (let time = 0; time < 8; time++) {
    const content = JSON.stringify({ steps: [], pad: "x".repeat(200_000) });
    last = await postChat({ messages: [{ role: "user", content }] }, "newcomer");
    statuses.push(last.status);
    if (last.status === 200) await last.text();
  }
  expect(statuses).toEqual([200, 200, 200, 429, 429, 429, 429, 429]);
  expect(Number(last?.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refusalOf(last ?? new Response())).toEqual([429, "storage_exhausted"]);
});

test("runs of one person count against the limit of the tenant", async () => {
  await govern({
    allowedTools: ["lab__read_page"],
    budgets: { maxSteps: 100, maxStoredBytes: 800_000 },
  });
  const { runId } = await readAndRead("hoarder");
  expect(await storedBytesOf(runId, "hoarder")).toBeGreaterThan(800_000);
  await govern({ allowedTools: [], tenantBudgets: { maxStoredBytes: 800_000 } });
  const refused = await postChat({ messages: [{ role: "user", content: "hi" }] }, "neighbour");
  expect(await refusalOf(refused)).toEqual([429, "storage_exhausted"]);
});

/** Everything that a tenant's audit log holds of a run that has ended. */
async function auditOf(runId: string): Promise<readonly AuditEntry[]> {
  const find = async (): Promise<readonly AuditEntry[]> => {
    const answer = await send(`/v1/audit?run=${runId}&limit=100`, { caller: "archive" });
    const { records } = await answer.json<{ records: readonly AuditRecord[] }>();
    return records.map(({ entry }) => entry);
  };
  await expect.poll(async () => (await find()).at(-1)?.action).toBe("run.ended");
  return find();
}

const FORBIDDEN = { name: "lab__write_note", args: '{"text":"a","to":"eve"}' };
const refusedIn = (entries: readonly AuditEntry[]): number =>
  entries.filter(({ action }) => action === "call.ended").length +
  entries.reduce((sum, { count = 0 }) => sum + count, 0);

test("a chat whose calls are all refused leaves the first ones and a count in the audit log", async () => {
  const steps = Array.from({ length: 3 }, (_, step) => ({
    calls: Array.from({ length: 40 }, (_call, call) =>
      call % 2 === 0 ? FORBIDDEN : { name: `made_up_${step}_${call}`, args: "{}" },
    ),
  }));
  const response = await chat(steps, "archive");
  await response.text();
  const entries = await auditOf(runIdOf(response));
  expect(refusedIn(entries)).toBe(120);
  const [opened, others] = Array.from([true, false], (isOpened) =>
    entries.filter(({ action }) => (action === "escalation.opened") === isOpened),
  );
  expect(opened?.map(({ escalation }) => escalation)).toEqual([
    "repairs_exhausted",
    "repeated_refusals",
  ]);
  expect(others?.length).toBeLessThan(16);
  expect(JSON.stringify(entries).length).toBeLessThan(12_000);
  const counted = entries.find(({ toolId, count }) => count && toolId === "lab__write_note");
  expect(counted).toMatchObject({
    action: "calls.refused",
    actorId: "user:archive",
    gates: { passed: [], refusedBy: "argument_rules" },
    outcome: "POLICY_VIOLATION",
    since: expect.any(String),
  });
  const lines = await (await send("/v1/audit?format=jsonl", { caller: "archive" })).text();
  async function* read(): AsyncGenerator<string> {
    for (const line of lines.trimEnd().split("\n")) yield line;
  }
  expect(await verifyChain(read(), {})).toMatchObject({ kind: "whole" });
});

test("refused calls are counted across a crash of the run, each once", async () => {
  const many = (step: number): ScriptedStep => ({
    calls: Array.from({ length: 10 }, (_, call) => ({ name: `no_${step}_${call}`, args: "{}" })),
  });
  const held = { ...many(2), holds: "tally" };
  const response = await chat([many(1), held], "archive");
  const runId = runIdOf(response);
  const read = response.text().catch(() => "");
  await expect
    .poll(() => rowsOf(runId, "SELECT 1 FROM refusals WHERE full_chars = 0"))
    .toHaveLength(7);
  await crash(runId);
  await fetch(releaseUrl("tally"));
  await read;
  await send(`/v1/runs/${runId}`, { caller: "archive" });
  const entries = await auditOf(runId);
  expect(entries.filter(({ action }) => action === "call.ended")).toHaveLength(3);
  expect(refusedIn(entries)).toBe(20);
});

test("what a conversation keeps of later turns and their files counts for the person", async () => {
  const { conversationId } = await finish({ caller: "hoarder" });
  const before = await storedBytesOf(conversationId, "hoarder");
  const noise = crypto.getRandomValues(new Uint8Array(60_000));
  const picture = image(
    dataUrl("image/png", btoa(`\x89PNG\r\n\x1a\n${String.fromCharCode(...noise)}`)),
  );
  const content = [text(script({ text: ["ok"] })), picture];
  await finish({ caller: "hoarder", conversationId, content, model: SEES });
  await untilKept(conversationId, 2);
  await expect
    .poll(() => storedBytesOf(conversationId, "hoarder"))
    .toBeGreaterThan(before + noise.length);
});
