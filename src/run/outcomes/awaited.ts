import { personOf, type Principal } from "../../protocol/identity/principal.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { invocationIdOf } from "../../protocol/invocation/id.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import { withheldPaths } from "../../protocol/json/withheld-paths.ts";
import type { AwaitedOutcome, NamedCall, UndoneSaga } from "../../protocol/run/awaited-outcome.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import { parseArguments } from "../../protocol/tool/call.ts";

/** Most calls that one notice names. Later ones follow when the first are resolved. */
const MAX_OUTCOMES = 50;

/** A run, and all calls of it. */
interface AwaitingRun {
  readonly runId: RunId;
  readonly principal: Principal;
  readonly calls: readonly ToolInvocationRecord[];
}

/** Describes the calls that an operator has to look at, as the tenant's object lists them. */
export function describeAwaited(
  { runId, principal, calls }: AwaitingRun,
  awaiting: readonly ToolInvocationRecord[],
): readonly AwaitedOutcome[] {
  const requestedBy = personOf(principal);
  return awaiting
    .slice(0, MAX_OUTCOMES)
    .map((record) => describeCall(record, { runId, requestedBy }, calls));
}

function describeCall(
  record: ToolInvocationRecord,
  run: Pick<AwaitedOutcome, "runId" | "requestedBy">,
  calls: AwaitingRun["calls"],
): AwaitedOutcome {
  const { binding, dispatchedAtMs, end, undo } = record;
  const shown = binding?.shownArgs ?? {};
  const args = parseArguments(record);
  return {
    ...run,
    invocationId: invocationIdOf(record.number),
    toolCallId: record.toolCallId,
    toolId: record.name,
    toolVersion: binding?.version ?? "unknown",
    owner: binding?.owner ?? "unknown",
    ...(binding?.title !== undefined && { toolTitle: binding.title }),
    arguments: shown,
    withheld: args.ok ? withheldPaths(args.value, shown) : [],
    attempts: record.dispatches,
    ...(dispatchedAtMs !== undefined && { dispatchedAt: toIso(dispatchedAtMs) }),
    ...(undo?.status === "failed" && {
      undo: {
        runId: undo.runId,
        toolId: end?.compensation?.toolId ?? "unknown",
        // A saga undoes its steps in its own run, a person in another one.
        ...(undo.runId === run.runId && { saga: describeSaga(record, calls) }),
      },
    }),
    ...awaitedOf(record),
  };
}

/** Names the saga of a step that it could not undo, and the steps before it, which stay too. */
function describeSaga(
  { number, saga }: ToolInvocationRecord,
  calls: AwaitingRun["calls"],
): UndoneSaga {
  const stays = calls.filter(
    (call) => call.number !== number && saga && isLeftStep(call, saga.number),
  );
  const asked = calls.find((call) => call.number === saga?.number);
  if (!asked) throw new Error(`${number} is a step of no saga`);
  return { ...nameCall(asked), stays: stays.map(nameCall) };
}

function isLeftStep({ saga, state, binding }: ToolInvocationRecord, number: number): boolean {
  const isStep = saga?.number === number && !saga.compensates;
  return isStep && state === "COMPLETED" && binding?.mutates === true;
}

function nameCall({ number, name }: ToolInvocationRecord): NamedCall {
  return { invocationId: invocationIdOf(number), toolId: name };
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
