import { describe, expect, test } from "vitest";
import { evaluateRuns, formatReports } from "../../cli/evaluate/evaluate-runs.ts";
import { verifyExport, type RunExport } from "../../cli/evaluate/evaluated-runs.ts";
import { MODES } from "../../cli/evaluate/modes.ts";
import { auditLine, entryText, GENESIS_HASH, linkText } from "../../src/protocol/audit/chain.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { hashText } from "../../src/protocol/json/canonical-hash.ts";
import {
  APPROVE,
  askNobody,
  askToPay,
  callOf,
  decide,
  ended,
  REJECT,
  useApprovalLab,
} from "../shared/people.ts";
import { send } from "../shared/worker.ts";

useApprovalLab();

const reader = { caller: "chief" } as const;

/** Exports what a tenant's runs left, as docs/evaluation.md says. */
async function exportRuns(): Promise<RunExport> {
  const paid = await askToPay();
  await decide(paid.approvalId, "bob", APPROVE);
  await decide(paid.approvalId, "cat", APPROVE);
  const refused = await askToPay({ amount: 41 });
  await decide(refused.approvalId, "bob", REJECT);
  await askNobody([
    callOf("core__calculate", { expression: "6*7" }, "sum"),
    callOf("core__calculate", { wrong: 1 }, "wrong"),
    callOf("lab__unknown", {}, "unknown"),
  ]);
  const runIds = [paid.runId, refused.runId];
  await Promise.all(runIds.map((runId) => ended(runId)));
  const read = async (path: string): Promise<string> => (await send(path, reader)).text();
  await expect
    .poll(async () => (await read("/v1/audit?format=jsonl")).match(/"run.ended"/g)?.length)
    .toBe(3);
  const traces = runIds.map(
    async (runId) =>
      [`${runId}.trace.json`, await read(`/v1/runs/${runId}/trace?limit=100`)] as const,
  );
  const tools = ["lab__transfer", "core__calculate"].map(
    async (id) => [`${id}.tool.json`, await read(`/v1/tools/${id}`)] as const,
  );
  const [runId = ""] = runIds;
  const replay = await send(`/v1/runs/${runId}/replay`, { ...reader, method: "POST" });
  return {
    log: (await read("/v1/audit?format=jsonl")).split("\n").filter(Boolean),
    traces: new Map(await Promise.all(traces)),
    replays: new Map([[`${runId}.replay.json`, await replay.text()]]),
    contracts: new Map(await Promise.all(tools)),
  };
}

/** Writes a log anew, with sound hashes, after a change of its entries. */
async function rewrite(
  { log, ...rest }: RunExport,
  change: (entries: AuditEntry[]) => readonly AuditEntry[],
): Promise<RunExport> {
  const entries = log.flatMap((line) => {
    const { entry } = JSON.parse(line) as { entry?: AuditEntry };
    return entry ? [entry] : [];
  });
  let head = { seq: 0, hash: GENESIS_HASH };
  const lines: string[] = [];
  for (const entry of change(entries)) {
    const link = { seq: head.seq + 1, prevHash: head.hash };
    const hash = await hashText(linkText({ ...link, entryText: entryText(entry) }));
    lines.push(auditLine({ ...link, entry, hash }).trimEnd());
    head = { seq: link.seq, hash };
  }
  return { ...rest, log: [...lines, auditLine({ head }).trimEnd()], traces: new Map() };
}

const isPaid = ({ action, toolId, outcome }: AuditEntry): boolean =>
  action === "call.ended" && toolId === "lab__transfer" && outcome === "SUCCESS";

/** Changes the record of the payment that was made. */
const ofPayment =
  (change: (entry: AuditEntry) => AuditEntry) =>
  (entries: AuditEntry[]): readonly AuditEntry[] =>
    entries.map((entry) => (isPaid(entry) ? change(entry) : entry));

const withoutGate = (...gates: readonly string[]) =>
  ofPayment((entry) => {
    const passed = entry.gates?.passed.filter((gate) => !gates.includes(gate)) ?? [];
    return { ...entry, gates: { ...entry.gates, passed } };
  });

/** One fault for each mode. */
const PLANTED: Readonly<Record<string, (good: RunExport) => Promise<RunExport>>> = {
  schema_conformance: (good) => rewrite(good, withoutGate("arguments")),
  semantic_validation: (good) => rewrite(good, withoutGate("rules")),
  permission_boundary: (good) => rewrite(good, withoutGate("authorise")),
  approval_gate: (good) =>
    rewrite(good, (entries) =>
      entries.map((entry) =>
        entry.action === "approval.closed" ? { ...entry, decision: "rejected" } : entry,
      ),
    ),
  idempotency: (good) =>
    rewrite(good, (entries) =>
      entries.flatMap((entry) => (isPaid(entry) ? [entry, entry] : [entry])),
    ),
  retry: async (good) => {
    const failed = { outcome: "POLICY_VIOLATION" } as const;
    const log = await rewrite(
      good,
      ofPayment((entry) => ({ ...entry, ...failed })),
    );
    const traces = new Map(
      [...good.traces].slice(0, 1).map(([file, text]) => {
        const trace = JSON.parse(text) as { calls: object[] };
        const calls = trace.calls.map((call) => ({ ...call, ...failed, dispatches: 3 }));
        return [file, JSON.stringify({ ...trace, calls, records: [] })] as const;
      }),
    );
    return { ...log, traces };
  },
  repair_loop: (good) =>
    rewrite(good, (entries) =>
      entries.flatMap((entry) => {
        const withdrawn = { passed: ["lookup"], refusedBy: "still_wanted" };
        const before = {
          ...entry,
          invocationId: "inv_9",
          reason: "tool_withdrawn",
          gates: withdrawn,
        };
        return isPaid(entry)
          ? [{ ...before, outcome: "BUDGET_EXHAUSTED" } as const, entry]
          : [entry];
      }),
    ),
  observation_contract: (good) => rewrite(good, withoutGate("output")),
  compensation: (good) =>
    rewrite(good, (entries) =>
      entries.flatMap((entry) =>
        isPaid(entry) ? [entry, { ...entry, action: "undo.started" }] : [entry],
      ),
    ),
  prompt_injection: (good) =>
    rewrite(good, (entries) => {
      const after = [{ kind: "tool", tool: "lab__read_page", call: "c" }] as never;
      return ofPayment((entry) => ({ ...entry, after }))([...withoutGate("data_flow")(entries)]);
    }),
  schema_drift: (good) =>
    rewrite(
      good,
      ofPayment((entry) => ({ ...entry, toolVersion: "0.0.1" })),
    ),
  replay: (good) => {
    const different = JSON.stringify({
      runId: JSON.parse([...good.replays.values()][0] ?? "{}").runId,
      outcome: "different",
    });
    return Promise.resolve({ ...good, replays: new Map([["x.replay.json", different]]) });
  },
};

async function faultsOf(runs: RunExport): Promise<readonly string[]> {
  const verified = await verifyExport(runs);
  if (!verified.ok) throw new Error(verified.failure.message);
  const reports = evaluateRuns(verified.value);
  return reports.filter(({ faults }) => faults.length > 0).map(({ id }) => id);
}

describe("the 12 modes over the export of real runs", () => {
  test("look at the runs, find nothing wrong, and find each planted fault alone", async () => {
    const good = await exportRuns();
    const verified = await verifyExport(good);
    if (!verified.ok) throw new Error(verified.failure.message);
    const reports = evaluateRuns(verified.value);
    expect(reports.filter(({ faults }) => faults.length > 0)).toEqual([]);
    expect(formatReports(reports).join("\n")).toContain("Approval gate: 2 looked at, no fault");
    expect(Object.keys(PLANTED)).toEqual(MODES.map(({ id }) => id));
    for (const [mode, plant] of Object.entries(PLANTED)) {
      expect(await faultsOf(await plant(good)), mode).toEqual([mode]);
    }
    const line = good.log.findIndex((text) => text.includes('"call.ended"'));
    const changed = good.log.with(line, (good.log[line] ?? "").replace("SUCCESS", "TIMEOUT"));
    const [file = "", text = ""] = [...good.traces][0] ?? [];
    const traced = (from: string, to: string): RunExport => ({
      ...good,
      traces: new Map([[file, text.replaceAll(from, to)]]),
    });
    const refusals = [
      { ...good, log: changed.map((one) => one.replace("PERMISSION_DENIED", "TIMEOUT")) },
      { ...good, log: good.log.slice(0, -1) },
      traced('"action":"call.ended"', '"action":"run.ended"'),
      {
        ...good,
        traces: new Map([[file, text.replace(/"outcome":"SUCCESS"/, '"outcome":"TIMEOUT"')]]),
      },
      traced('"calls"', '"none"'),
      // Values of the wrong kind within the right members.
      traced('"calls":[', '"calls":[null,'),
      traced('"records":[', '"records":[null,'),
    ];
    const codes = await Promise.all(
      refusals.map(async (one) => {
        const answer = await verifyExport(one);
        return answer.ok ? "verified" : answer.failure.code;
      }),
    );
    expect(codes).toEqual([
      "chain_broken",
      "chain_broken",
      "record_not_in_log",
      "trace_contradicts_log",
      "unreadable",
      "unreadable",
      "unreadable",
    ]);
  });
});
