import type { BudgetLedger } from "../capabilities/budget-ledger.ts";
import type { Mailbox } from "../capabilities/inbox.ts";
import type { Model } from "../capabilities/model.ts";
import { routeVersions } from "../contracts/route-versions.ts";
import { createToolCatalog } from "../contracts/tool-catalog.ts";
import type { RunClaim } from "../protocol/run-claim.ts";
import { limitsOf, narrowPolicy } from "../protocol/tool-policy.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/usage.ts";
import type { ToolRunnerPorts } from "../runner/call-in-hand.ts";
import { RunBudget } from "../runner/run-budget.ts";
import { createToolRunner } from "../runner/tool-runner.ts";
import { CallIds } from "./call-ids.ts";
import { Growth } from "./growth.ts";
import { endOf, failed, overBudget, type RunEnd } from "./run-end.ts";
import { runStep, type StepScope } from "./run-step.ts";
import { TenantTokens } from "./tenant-tokens.ts";
import { startTimeLimit } from "./time-limit.ts";

/** What one run stands on. */
export interface RunPorts extends Omit<
  ToolRunnerPorts,
  "versions" | "policy" | "pin" | "principal" | "connectionIds" | "budget"
> {
  readonly model: Model;
  readonly ledger: BudgetLedger;
  /** What people say while the run goes; the loop closes it before the run ends. */
  readonly inbox: Mailbox;
}

/** Steps of a run whose policy sets no limit. */
const DEFAULT_MAX_STEPS = 20;
/** Time of a run whose policy sets no limit: as long as the platform keeps it awake without a reader. */
const DEFAULT_MAX_WALL_CLOCK_MS = 15 * 60_000;

/**
 * Carries a claimed run to its end: model, tools, model, until the model stops or a limit does. A
 * message that came meanwhile is put before the next model call, and brings one about.
 * Contract: never throws; appends exactly one `done`, as the last event; whatever the inbox took is in
 * the transcript then, answered or not.
 */
export async function runLoop(
  claim: RunClaim,
  ports: RunPorts,
  signal: AbortSignal,
): Promise<void> {
  const spent = { usage: NO_USAGE };
  let end: RunEnd;
  try {
    end = await runSteps(claim, ports, { signal, spent });
  } catch {
    end = failed("internal_error", "The run failed inside Interlock.");
  }
  const { inbox, journal } = ports;
  inbox.close();
  for (const text of inbox.takeAll()) journal.remember({ role: "user", text });
  journal.append([{ type: "done", ...end, usage: spent.usage }]);
}

interface RunControl {
  readonly signal: AbortSignal;
  readonly spent: { usage: Usage };
}

async function runSteps(
  claim: RunClaim,
  ports: RunPorts,
  { signal, spent }: RunControl,
): Promise<RunEnd> {
  ports.journal.append([{ type: "run_started", runId: claim.runId, model: claim.model }]);
  const loaded = await ports.policies.load(claim.principal.tenantId);
  const policy = narrowPolicy(loaded.policy, claim.toolIds);
  const {
    maxSteps = DEFAULT_MAX_STEPS,
    maxRetries,
    maxWallClockMs = DEFAULT_MAX_WALL_CLOCK_MS,
  } = policy.budgets;
  const budget = new RunBudget(limitsOf(policy.budgets), maxRetries);
  const time = startTimeLimit(ports.clock, signal, maxWallClockMs);
  try {
    const bounds = { policy, pin: loaded.pin, budget, signal: time.signal };
    const scope = openScope(claim, ports, bounds);
    const tenantTokens = new TenantTokens({ ...ports, claim, policy, pin: loaded.pin });
    const growth = new Growth(scope.transcript);
    for (let number = 1; number <= maxSteps; number++) {
      if (signal.aborted) return { reason: "cancelled" };
      const exhausted = budget.findExhausted({ tokens: 1 });
      if (exhausted !== undefined) return overBudget(exhausted);
      if (growth.isTooLong()) return TOO_LONG;
      const refused = await tenantTokens.reserve(number);
      if (refused) return refused;
      const { turn, continued } = await runStep(scope, { number, last: number === maxSteps });
      const { usage = NO_USAGE } = turn;
      spent.usage = addUsage(spent.usage, usage);
      const tokens = usage.inputTokens + usage.outputTokens;
      budget.spend({ tokens });
      await tenantTokens.spend(number, tokens);
      if (signal.aborted) return { reason: "cancelled" };
      if (time.isUp) return overBudget("time");
      if (turn.finish !== "tool_calls" && !continued) return endOf(turn);
    }
    return { reason: "step_limit" };
  } finally {
    time.stop();
  }
}

const TOO_LONG = failed("conversation_too_long", "The conversation has become too long to go on.");

/** What one run's policy makes of it. */
interface Bounds extends Pick<ToolRunnerPorts, "policy" | "pin" | "budget"> {
  readonly signal: AbortSignal;
}

function openScope(claim: RunClaim, ports: RunPorts, bounds: Bounds): StepScope {
  const { policy, pin, budget, signal } = bounds;
  const routing = { runKey: claim.runId, nowMs: ports.clock.nowMs() };
  const specs = ports.source.listToolSpecs();
  const { tools } = createToolCatalog(specs, policy, routing);
  const runner = createToolRunner({
    ...ports,
    policy,
    pin,
    versions: routeVersions(specs, policy, routing),
    principal: claim.principal,
    connectionIds: claim.connectionIds ?? [],
    budget,
  });
  return {
    claim,
    model: ports.model,
    tools: [...tools.values()],
    runner,
    journal: ports.journal,
    inbox: ports.inbox,
    callIds: new CallIds(claim.messages),
    signal,
    transcript: [...claim.messages],
    nextPart: counter(),
  };
}

function counter(): () => number {
  let next = 0;
  return () => next++;
}
