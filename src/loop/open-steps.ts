import type { SteeringInbox } from "../capabilities/run-journal.ts";
import type { InputBound, Model } from "../capabilities/model.ts";
import type { LoadedPolicy, PolicyStore } from "../capabilities/policy.ts";
import { routeVersions } from "../contracts/route-versions.ts";
import { createToolCatalog } from "../contracts/tool-catalog.ts";
import { lowerBudgets, narrowPolicy } from "../protocol/policy/narrow.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import { IMPLIED_LIMITS } from "../protocol/policy/limits.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { Usage } from "../protocol/model/usage.ts";
import type { ToolRunnerPorts } from "../runner/ports.ts";
import { restoreRunBudget } from "../runner/budget/of-run.ts";
import { maxWallClockMs } from "../runner/budget/run-time.ts";
import { createToolRunner } from "../runner/tool-runner.ts";
import { CallIds } from "./call-ids.ts";
import { Growth } from "./growth.ts";
import { ModelBudget } from "./model-budget.ts";
import { ModelCalls } from "./model-calls.ts";
import type { RunMemory } from "./run-memory.ts";
import type { StepScope } from "./step-scope.ts";

/** What one run stands on. */
export interface RunPorts extends Omit<
  ToolRunnerPorts,
  | "versions"
  | "policy"
  | "pin"
  | "principal"
  | "connectionIds"
  | "budget"
  | "invocations"
  | "workflowId"
> {
  readonly model: Model;
  /** Measures what the model is asked. */
  readonly inputBound: InputBound;
  /** What people say while the run goes; the loop closes it before the run ends. */
  readonly inbox: SteeringInbox;
  /**
   * Ends the run's time so long after it began, by aborting its signal with the reason `time`. Time in
   * which it waits for people does not count. Contract: the first call counts, in whichever life.
   */
  readonly limitTime: (maxMs: number) => void;
}

/** One life of a run. */
export interface RunLife {
  readonly claim: RunClaim;
  readonly memory: RunMemory;
  /** When its first life began; the versions of its tools are those of then. Unit: Unix milliseconds. */
  readonly startedAtMs: number;
  /** Aborts with a StopReason. */
  readonly signal: AbortSignal;
}

/** One life of a run, under way. */
export interface OpenLife extends RunLife {
  /** The conversation; grows. */
  readonly transcript: TranscriptMessage[];
  readonly spent: { usage: Usage };
}

/** What one run stands on, and its records. */
export type LedgeredPorts = RunPorts & Pick<ToolRunnerPorts, "invocations">;

/** What the steps of one life share. */
export interface Steps {
  readonly scope: StepScope;
  readonly growth: Growth;
  readonly spent: { usage: Usage };
  /** The policy that an earlier life stood on cannot be read, so nobody knows its limits. */
  readonly isPolicyLost: boolean;
}

/** Builds what the steps of one life share, as far as possible as its earlier lives had it. */
export async function openSteps(life: OpenLife, ports: LedgeredPorts): Promise<Steps> {
  const { claim, memory, signal, transcript, spent } = life;
  const { facts, progress } = memory;
  const { journal } = ports;
  if (!progress.hasStarted) {
    journal.append([{ type: "run_started", runId: claim.runId, model: claim.model }]);
  }
  // What was counted and may have been made was made; before the run started, nothing was.
  const made = progress.hasStarted ? facts.modelCalls : 0;
  const loaded = await pinPolicy(ports, claim, facts.pin);
  const policy = lowerBudgets(narrowPolicy(loaded.policy, claim.toolIds), claim.budgets);
  const { maxSteps = IMPLIED_LIMITS.maxSteps } = policy.budgets;
  ports.limitTime(maxWallClockMs(policy));
  const budget = restoreRunBudget(memory.invocations, policy);
  const modelBudget = new ModelBudget({ ...ports, claim, policy, pin: loaded.pin, budget });
  modelBudget.restore(facts, progress.usage);
  const specs = ports.source.listToolSpecs();
  const routing = { runKey: claim.runId, nowMs: life.startedAtMs };
  const runner = createToolRunner({
    ...ports,
    policy,
    pin: loaded.pin,
    versions: routeVersions(specs, policy, routing),
    principal: claim.principal,
    workflowId: claim.workflowId ?? claim.runId,
    connectionIds: claim.connectionIds ?? [],
    budget,
  });
  const scope: StepScope = {
    ...ports,
    claim,
    signal,
    transcript,
    runner,
    modelBudget,
    modelCalls: new ModelCalls(journal, { made, counted: facts.modelCalls }, maxSteps),
    tools: [...createToolCatalog(specs, policy, routing).tools.values()],
    callIds: new CallIds(transcript),
    nextPart: counterFrom(progress.nextPart),
  };
  const growth = new Growth(transcript, claim.messages.length);
  const isPolicyLost = facts.pin !== undefined && loaded.deniedBecause !== undefined;
  return { scope, growth, spent, isPolicyLost };
}

/** A run stands on one policy all its lives; it was noted before anything was allowed by it. */
async function pinPolicy(
  { policies, journal }: { readonly policies: PolicyStore; readonly journal: RunPorts["journal"] },
  { principal: { tenantId } }: RunClaim,
  pin: PolicyPin | undefined,
): Promise<LoadedPolicy> {
  if (pin) return policies.read(tenantId, pin);
  const loaded = await policies.load(tenantId);
  journal.note({ pin: loaded.pin });
  return loaded;
}

function counterFrom(first: number): () => number {
  let next = first;
  return () => next++;
}
