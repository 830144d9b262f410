import { bundleContender } from "../contenders/bundle.ts";
import { startContender, type Contender } from "../contenders/start.ts";
import { ask, callerOf, figure, govern, TENANTS } from "../growth-tenants.ts";
import type { Bench, Figure } from "../measure.ts";
import { modelOf, SCENARIOS, type Scenario } from "../upstream/scenario.ts";
import { measureTenants } from "./tenant-growth.ts";

const KIB = 1024;
const HISTORY_BYTES = 200 * KIB;

/**
 * Measures what runs store, and how a tenant's object answers that has received many runs. Bytes
 * and rows do not depend on the machine.
 */
export async function measureGrowth({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const code = await bundleContender("growth-worker.ts");
  const { texts, ...plan } = plans.interlock;
  const API_TOKENS = JSON.stringify(TENANTS.map(callerOf));
  const worker = await startContender({ ...plan, code, texts: { ...texts, API_TOKENS } });
  for (const tenant of TENANTS) await govern(worker, tenant);
  const runs = await measureRuns(worker);
  const tenants = await measureTenants(worker, quick ? 1_000 : 10_000);
  await worker.stop();
  return [...runs, ...tenants];
}

interface EndedRun {
  readonly runId: string;
  readonly toolCalls: number;
  readonly storedBytes: number;
}

interface Started {
  readonly scenario?: Scenario;
  readonly text?: string;
  readonly previousRunId?: string;
}

/** Runs to the end; waits until the tenant's object knows the end. */
async function run(worker: Contender, started: Started = {}): Promise<EndedRun> {
  const { scenario = SCENARIOS.firstByte, text = "What time is it?", previousRunId } = started;
  const messages = [{ role: "user", content: text }];
  const body = { model: modelOf(scenario), messages, ...(previousRunId && { previousRunId }) };
  const answer = await ask(worker, "fresh", { path: "/v1/chat", body });
  if (answer.status !== 200) throw new Error(await answer.text());
  await answer.text();
  const runId = answer.headers.get("x-run-id");
  for (;;) {
    const list = await ask(worker, "fresh", { path: "/v1/runs?limit=100" });
    const { runs } = await list.json<{ runs: (EndedRun & { endedAt?: string })[] }>();
    const ended = runs.find((item) => item.runId === runId && item.endedAt !== undefined);
    if (ended) return ended;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

async function auditBytesOf(worker: Contender, { runId }: EndedRun): Promise<number> {
  const path = `/v1/audit?format=jsonl&run=${runId}`;
  return (await (await ask(worker, "fresh", { path })).text()).length;
}

async function measureRuns(worker: Contender): Promise<readonly Figure[]> {
  const short = await run(worker);
  const long = await run(worker, { text: "x".repeat(HISTORY_BYTES) });
  const continued = await run(worker, { previousRunId: long.runId });
  const calls = await run(worker, { scenario: SCENARIOS.chain });
  const refused = await run(worker, { scenario: SCENARIOS.refused });
  const audit = (await auditBytesOf(worker, refused)) - (await auditBytesOf(worker, short));
  const perCall = (bytes: number, { toolCalls }: EndedRun): number => bytes / KIB / toolCalls;
  const inRun = ({ storedBytes }: EndedRun): number => storedBytes - short.storedBytes;
  const kib = (name: string, value: number): Figure => figure(name, { unit: "KiB", value });
  return [
    kib("a run of one short answer", short.storedBytes / KIB),
    figure("a run that continues 200 KiB", {
      unit: "KiB",
      value: continued.storedBytes / KIB,
      to: ["a short answer", continued.storedBytes / short.storedBytes],
    }),
    kib("a call in its run", perCall(inRun(calls), calls)),
    kib("a refused call in its run", perCall(inRun(refused), refused)),
    kib(`one of ${refused.toolCalls} refused calls in the audit log`, perCall(audit, refused)),
  ];
}
