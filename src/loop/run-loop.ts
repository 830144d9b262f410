import type { Mailbox } from "../capabilities/inbox.ts";
import type { Model } from "../capabilities/model.ts";
import { routeVersions } from "../contracts/route-versions.ts";
import { createToolCatalog } from "../contracts/tool-catalog.ts";
import type { DoneReason, RunError } from "../protocol/ai-event.ts";
import type { ModelFailure, ModelTurn } from "../protocol/model-event.ts";
import type { RunClaim } from "../protocol/run-claim.ts";
import { limitsOf, narrowPolicy } from "../protocol/tool-policy.ts";
import { addUsage, NO_USAGE, type Usage } from "../protocol/usage.ts";
import type { ToolRunnerPorts } from "../runner/call-in-hand.ts";
import { RunBudget } from "../runner/run-budget.ts";
import { createToolRunner } from "../runner/tool-runner.ts";
import { CallIds } from "./call-ids.ts";
import { runStep, type StepScope } from "./run-step.ts";

/** What one run stands on. */
export interface RunPorts extends Omit<
  ToolRunnerPorts,
  "versions" | "policy" | "pin" | "principal" | "connectionIds" | "budget"
> {
  readonly model: Model;
  /** What people say while the run goes; the loop closes it before the run ends. */
  readonly inbox: Mailbox;
}

/** Steps of a run whose policy sets no limit. */
const DEFAULT_MAX_STEPS = 20;

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

interface RunEnd {
  readonly reason: DoneReason;
  readonly error?: RunError;
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
  const routing = { runKey: claim.runId, nowMs: ports.clock.nowMs() };
  const specs = ports.source.listToolSpecs();
  const budget = new RunBudget(limitsOf(policy.budgets), policy.budgets.maxRetries);
  const scope: StepScope = {
    claim,
    model: ports.model,
    tools: [...createToolCatalog(specs, policy, routing).tools.values()],
    runner: createToolRunner({
      ...ports,
      policy,
      pin: loaded.pin,
      versions: routeVersions(specs, policy, routing),
      principal: claim.principal,
      connectionIds: claim.connectionIds ?? [],
      budget,
    }),
    journal: ports.journal,
    inbox: ports.inbox,
    callIds: new CallIds(claim.messages),
    signal,
    transcript: [...claim.messages],
    nextPart: counter(),
  };
  const maxSteps = policy.budgets.maxSteps ?? DEFAULT_MAX_STEPS;
  for (let number = 1; number <= maxSteps; number++) {
    if (signal.aborted) return { reason: "cancelled" };
    const { turn, continued } = await runStep(scope, { number, last: number === maxSteps });
    spent.usage = addUsage(spent.usage, turn.usage ?? NO_USAGE);
    if (signal.aborted) return { reason: "cancelled" };
    if (turn.finish !== "tool_calls" && !continued) return endOf(turn);
  }
  return { reason: "step_limit" };
}

function counter(): () => number {
  let next = 0;
  return () => next++;
}

function endOf(turn: ModelTurn): RunEnd {
  switch (turn.finish) {
    case "stop":
    case "tool_calls":
      return { reason: "stop" };
    case "length":
    case "content_filter":
      return { reason: turn.finish };
    case "error":
      return describeFailure(turn.failure);
  }
}

/** What a client learns of a provider's failure; the provider's own text stays behind. */
const FAILURES: { readonly [Code in Exclude<ModelFailure["code"], "aborted">]: string } = {
  upstream_status: "The model provider refused the request.",
  upstream_unreachable: "The model provider could not be reached.",
  upstream_not_a_stream: "The model provider did not answer with an event stream.",
  upstream_error_event: "The model provider reported an error while it answered.",
  upstream_malformed: "The model provider sent data that could not be read.",
  upstream_too_large: "The model provider sent more than a run may receive.",
  upstream_truncated: "The model provider's answer ended before it was complete.",
  upstream_stalled: "The model provider stopped answering.",
};

function describeFailure(failure: ModelFailure | undefined): RunEnd {
  if (!failure) return failed("internal_error", "The run failed inside Interlock.");
  const { code, status } = failure;
  if (code === "aborted") return { reason: "cancelled" };
  const answered = status === undefined ? "" : ` It answered with HTTP ${status}.`;
  return failed(code, `${FAILURES[code]}${answered}`);
}

function failed(code: string, message: string): RunEnd {
  return { reason: "error", error: { code, message } };
}
