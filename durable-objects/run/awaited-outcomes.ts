import { personOf, type Principal } from "../../src/protocol/identity/principal.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { invocationIdOf } from "../../src/protocol/invocation/id.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import { withheldPaths } from "../../src/protocol/json/withheld-paths.ts";
import type { AwaitedOutcome } from "../../src/protocol/run/awaited-outcome.ts";
import { toIso } from "../../src/protocol/text/iso-time.ts";
import { parseArguments } from "../../src/protocol/tool/call.ts";

/** Most calls that one notice names. Later ones follow when the first are resolved. */
const MAX_OUTCOMES = 50;

/** Describes the calls that an operator has to look at, as the tenant's object lists them. */
export function describeAwaited(
  { runId, principal }: { readonly runId: RunId; readonly principal: Principal },
  awaiting: readonly ToolInvocationRecord[],
): readonly AwaitedOutcome[] {
  const requestedBy = personOf(principal);
  return awaiting
    .slice(0, MAX_OUTCOMES)
    .map((record) => describeCall(record, { runId, requestedBy }));
}

function describeCall(
  record: ToolInvocationRecord,
  run: Pick<AwaitedOutcome, "runId" | "requestedBy">,
): AwaitedOutcome {
  const { binding, dispatchedAtMs, end, undo } = record;
  const isFailedUndo = undo?.status === "failed";
  const shown = binding?.shownArgs ?? {};
  const args = parseArguments(record);
  return {
    ...run,
    invocationId: invocationIdOf(record.number),
    toolCallId: record.toolCallId,
    toolId: record.name,
    toolVersion: binding?.version ?? "unknown",
    arguments: shown,
    withheld: args.ok ? withheldPaths(args.value, shown) : [],
    attempts: record.dispatches,
    ...(dispatchedAtMs !== undefined && { dispatchedAt: toIso(dispatchedAtMs) }),
    ...(isFailedUndo && {
      undo: { runId: undo.runId, toolId: end?.compensation?.toolId ?? "unknown" },
    }),
    ...awaitedOf(record),
  };
}

function awaitedOf({
  awaitedUntilMs = 0,
  end,
  undo,
  verification,
}: ToolInvocationRecord): Pick<AwaitedOutcome, "awaitsOutcomeUntil" | "mismatch"> {
  if (undo?.status === "failed") return { awaitsOutcomeUntil: toIso(undo.untilMs ?? 0) };
  if (verification?.outcome !== "mismatch" || !end) {
    return { awaitsOutcomeUntil: toIso(awaitedUntilMs) };
  }
  const { target_state_reference: reference, expected_state: expectedState } =
    end.observation.verification;
  const { found: foundState = null, atMs = 0, reviewUntilMs = 0 } = verification;
  return {
    awaitsOutcomeUntil: toIso(reviewUntilMs),
    mismatch: { reference, expectedState, foundState, verifiedAt: toIso(atMs) },
  };
}
