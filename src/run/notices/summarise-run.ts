import { actorsOf } from "../../protocol/identity/principal.ts";
import { statusOf } from "../../protocol/run/state.ts";
import type { RunSummary } from "../../protocol/run/summary.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import type { RunInvocations } from "../invocations.ts";
import type { ClaimedRun, StoredRun } from "../stored-run.ts";

/** Threat: a model asks for ever more tools that do not exist. */
const MAX_TOOL_IDS = 50;

/** What a summary is made from. */
export interface SummarisedRun extends Pick<StoredRun, "store"> {
  readonly invocations: Pick<RunInvocations, "all">;
}

/** Summarises a run for the list of its tenant. */
export function summariseRun(
  { store, invocations }: SummarisedRun,
  { assistant, principal }: Pick<ClaimedRun, "assistant" | "principal">,
): RunSummary {
  const { runId, model, createdMs } = store.identity();
  const { reason, title, steps, endedMs } = store.progress();
  const call = store.call();
  const calls = invocations.all();
  // What ran comes first, so made-up names take no place of a real tool.
  const ran = calls.filter(({ dispatches }) => dispatches > 0);
  const toolIds = [...new Set([...ran, ...calls].map(({ name }) => name))].slice(0, MAX_TOOL_IDS);
  return {
    runId,
    status: statusOf(reason, store.incarnations().isWaiting),
    ...(reason !== null && { reason }),
    ...(title !== null && { title }),
    model,
    ...(call && { call }),
    ...actorsOf(principal),
    ...(assistant?.id !== undefined && { assistantId: assistant.id }),
    steps,
    toolCalls: calls.length,
    ...(toolIds.length > 0 && { toolIds }),
    storedBytes: store.storedBytes(),
    createdAt: toIso(createdMs),
    ...(endedMs !== null && { endedAt: toIso(endedMs) }),
  };
}
