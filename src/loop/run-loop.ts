import type { BudgetLedger } from "../capabilities/budget-ledger.ts";
import type { Mailbox } from "../capabilities/inbox.ts";
import type { Model } from "../capabilities/model.ts";
import type { LoadedPolicy, PolicyStore } from "../capabilities/policy-store.ts";
import { routeVersions } from "../contracts/route-versions.ts";
import { createToolCatalog } from "../contracts/tool-catalog.ts";
import type { AiEvent } from "../protocol/ai-event.ts";
import type { PolicyPin } from "../protocol/policy-pin.ts";
import type { RunClaim } from "../protocol/run-claim.ts";
import type { StopReason } from "../protocol/run-facts.ts";
import { limitsOf, narrowPolicy, type ToolPolicy } from "../protocol/tool-policy.ts";
import type { TranscriptMessage } from "../protocol/transcript-message.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/usage.ts";
import type { ToolRunnerPorts } from "../runner/call-in-hand.ts";
import { InvocationLedger } from "../runner/invocation-ledger.ts";
import { RunBudget } from "../runner/run-budget.ts";
import { WAITING } from "../runner/settle-doubt.ts";
import { createToolRunner } from "../runner/tool-runner.ts";
import { CallIds } from "./call-ids.ts";
import { closeOpenCalls } from "./close-open-calls.ts";
import { Growth } from "./growth.ts";
import { ModelCalls } from "./model-calls.ts";
import { endOf, endOfStop, failed, overBudget, type RunEnd } from "./run-end.ts";
import type { RunMemory } from "./run-memory.ts";
import { runStep, type Step, type StepEnd } from "./run-step.ts";
import type { StepScope } from "./step-scope.ts";
import { TenantTokens } from "./tenant-tokens.ts";

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
  readonly ledger: BudgetLedger;
  /** What people say while the run goes; the loop closes it before the run ends. */
  readonly inbox: Mailbox;
  /**
   * Ends the run's time so long after it began, by aborting its signal with the reason `time`. Time in
   * which it waits for people does not count. Contract: the first call counts, in whichever life.
   */
  readonly limitTime: (maxMs: number) => void;
}

/** Steps of a run whose policy sets no limit. */
const DEFAULT_MAX_STEPS = 20;
/** Time of a run whose policy sets no limit: as long as the platform keeps it awake without a reader. */
const DEFAULT_MAX_WALL_CLOCK_MS = 15 * 60_000;

/** One life of a run. */
export interface RunLife {
  readonly claim: RunClaim;
  readonly memory: RunMemory;
  /** When its first life began; the versions of its tools are those of then. Unit: Unix milliseconds. */
  readonly startedAtMs: number;
  /** Aborts with a StopReason. */
  readonly signal: AbortSignal;
}

/**
 * Carries a claimed run to its end, from wherever its earlier lives left it: model, tools, model, until
 * the model stops or a limit does. A message that came meanwhile is put before the next model call, and
 * brings one about.
 * Contract: never throws; appends exactly one `done`, as the last event; whatever the inbox took is in
 * the transcript then, answered or not. Or it answers `waiting`: an operator has to tell what became of a
 * call, and the run is to be given another life once there is word.
 */
export async function runLoop(life: RunLife, ports: RunPorts): Promise<"ended" | typeof WAITING> {
  const { inbox, journal } = ports;
  const { transcript, invocations: stored, progress } = life.memory;
  const invocations = new InvocationLedger(journal, stored);
  const spent = { usage: progress.usage };
  const open: OpenLife = { ...life, transcript: [...transcript], spent };
  let end: RunEnd | typeof WAITING;
  try {
    withdrawHalfStep(journal, life.memory);
    end = await runSteps(open, { ...ports, invocations });
  } catch {
    const answers = closeOpenCalls({ ...ports, invocations }, life.claim, open.transcript);
    for (const answer of answers) journal.remember(answer);
    end = BROKEN;
  }
  if (end === WAITING) return WAITING;
  inbox.close();
  for (const text of inbox.takeAll()) journal.remember({ role: "user", text });
  journal.append([{ type: "done", ...end, usage: spent.usage }]);
  return "ended";
}

interface OpenLife extends RunLife {
  /** The conversation; grows. */
  readonly transcript: TranscriptMessage[];
  readonly spent: { usage: Usage };
}

type LedgeredPorts = RunPorts & Pick<ToolRunnerPorts, "invocations">;

/** What the steps of one life share. */
interface Steps {
  readonly scope: StepScope;
  readonly budget: RunBudget;
  readonly growth: Growth;
  readonly tenantTokens: TenantTokens;
  readonly spent: { usage: Usage };
  /** The policy that an earlier life stood on cannot be read, so nobody knows its limits. */
  readonly isPolicyLost: boolean;
}

async function runSteps(life: OpenLife, ports: LedgeredPorts): Promise<RunEnd | typeof WAITING> {
  const steps = await openSteps(life, ports);
  const { progress, facts } = life.memory;
  const { lastStep, isContinued } = progress;
  if (!isContinued && facts.turn?.step === lastStep) {
    const isInDoubt = ports.invocations.ofStep(lastStep).some(({ state }) => state === "EXPIRED");
    return (await endAfter(steps, { turn: facts.turn, continued: false, isInDoubt })) ?? BROKEN;
  }
  for (let step = firstStep(life.memory); ; step = stepAfter(step)) {
    const refused = step.turn ? undefined : await refuseStep(steps);
    if (refused) {
      if (step.hasBegun) ports.journal.append([unansweredStep(step)]);
      return refused;
    }
    const stepEnd = await runStep(steps.scope, step);
    if (stepEnd === WAITING) return WAITING;
    steps.spent.usage = addUsage(steps.spent.usage, stepEnd.turn.usage);
    const end = await endAfter(steps, stepEnd);
    if (end) return end;
  }
}

async function openSteps(life: OpenLife, ports: LedgeredPorts): Promise<Steps> {
  const { claim, memory, signal, transcript, spent } = life;
  const { facts, progress } = memory;
  const { journal } = ports;
  if (!progress.hasStarted) {
    journal.append([{ type: "run_started", runId: claim.runId, model: claim.model }]);
  }
  // What was counted and may have been made was made; before the run started, nothing was.
  const made = progress.hasStarted ? facts.modelCalls : 0;
  const loaded = await pinPolicy(ports, claim, facts.pin);
  const policy = narrowPolicy(loaded.policy, claim.toolIds);
  const { maxSteps = DEFAULT_MAX_STEPS, maxWallClockMs = DEFAULT_MAX_WALL_CLOCK_MS } =
    policy.budgets;
  ports.limitTime(maxWallClockMs);
  const budget = restoreBudget(memory, policy);
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
    modelCalls: new ModelCalls(journal, { made, counted: facts.modelCalls }, maxSteps),
    tools: [...createToolCatalog(specs, policy, routing).tools.values()],
    callIds: new CallIds(transcript),
    nextPart: counterFrom(progress.nextPart),
  };
  const growth = new Growth(transcript, claim.messages.length);
  const tenantTokens = new TenantTokens({ ...ports, claim, policy, pin: loaded.pin });
  const isPolicyLost = facts.pin !== undefined && loaded.deniedBecause !== undefined;
  return { scope, budget, growth, tenantTokens, spent, isPolicyLost };
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

/** What the earlier lives used up is used up. */
function restoreBudget({ invocations, progress }: RunMemory, { budgets }: ToolPolicy): RunBudget {
  const budget = new RunBudget(limitsOf(budgets), budgets.maxRetries);
  const { inputTokens, outputTokens } = progress.usage;
  budget.spend({ tokens: inputTokens + outputTokens });
  for (const record of invocations) budget.restore(record);
  return budget;
}

function firstStep({ facts, progress }: RunMemory): Step {
  const { lastStep, isStepOpen } = progress;
  if (!isStepOpen) return stepAfter({ number: lastStep });
  const turn = facts.turn?.step === lastStep ? facts.turn : undefined;
  return { number: lastStep, hasBegun: true, turn };
}

function stepAfter({ number }: Pick<Step, "number">): Step {
  return { number: number + 1, hasBegun: false, turn: undefined };
}

/** What a crash cut short is said anew: readers are told not to count on it. */
function withdrawHalfStep(journal: RunPorts["journal"], memory: RunMemory): void {
  const { hasBegun, turn } = firstStep(memory);
  if (!hasBegun || turn) return;
  const { texts, openTexts } = memory.progress;
  journal.append(openTexts.map((part) => ({ type: "text_finished", part })));
  if (texts.length > 0) journal.append([{ type: "text_withdrawn", parts: texts }]);
}

function unansweredStep({ number }: Step): AiEvent {
  return {
    type: "step_finished",
    step: number,
    finish: "error",
    usage: NO_USAGE,
    continued: false,
  };
}

/** Tells why no step may begin; undefined when one may. */
async function refuseStep(steps: Steps): Promise<RunEnd | undefined> {
  const { scope, budget, growth, tenantTokens } = steps;
  if (scope.signal.aborted) return endOfStop(scope.signal.reason as StopReason);
  if (steps.isPolicyLost) return POLICY_LOST;
  if (scope.modelCalls.left <= 0) return { reason: "step_limit" };
  const exhausted = budget.findExhausted({ tokens: 1 });
  if (exhausted !== undefined) return overBudget(exhausted);
  if (growth.isTooLong()) return TOO_LONG;
  return tenantTokens.reserve(scope.modelCalls.made + 1);
}

/** Counts what a step used; tells how the run ends, when nothing follows it. */
async function endAfter(
  { scope, budget, tenantTokens }: Steps,
  { turn, continued, isInDoubt }: StepEnd,
): Promise<RunEnd | undefined> {
  const tokens = turn.usage.inputTokens + turn.usage.outputTokens;
  budget.spend({ tokens });
  await tenantTokens.spend(turn.modelCall, tokens);
  if (scope.signal.aborted) return endOfStop(scope.signal.reason as StopReason);
  if (isInDoubt) return IN_DOUBT;
  if (continued) return undefined;
  return turn.finish === "tool_calls" ? { reason: "step_limit" } : endOf(turn);
}

const BROKEN = failed("internal_error", "The run failed inside Interlock.");
const POLICY_LOST = failed("budget_unavailable", "The run's budgets cannot be read.");
const TOO_LONG = failed("conversation_too_long", "The conversation has become too long to go on.");
const IN_DOUBT = failed(
  "outcome_unknown",
  "Nobody told in time what became of a tool call; look before it is repeated.",
);

function counterFrom(first: number): () => number {
  let next = first;
  return () => next++;
}
