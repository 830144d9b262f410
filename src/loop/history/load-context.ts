import type { BoundTools } from "../../capabilities/tool.ts";
import { frozenCopyOf } from "../../protocol/json/copy.ts";
import { parseHookContext, type HookContext } from "../../protocol/assistant/context.ts";
import { DEFAULT_ASSISTANT_ID } from "../../protocol/assistant/id.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { answerWithin } from "../../contracts/bind/answer-within.ts";
import type { CurrentPolicyPorts } from "../../runner/terms.ts";
import { openForContext } from "./context-workspace.ts";
import { CONTEXT_INVALID, CONTEXT_UNAVAILABLE, type RunEnd } from "../run-end.ts";
import type { LoopInput, RunPorts } from "../run-scope.ts";

/** Longest time of the deployment's hook. */
const TIMEOUT_MS = 5_000;

/** What asking the hook takes of the run. */
type ContextPorts = Pick<RunPorts, "contextHook" | "workspaces" | "clock" | "journal" | "log"> &
  Omit<CurrentPolicyPorts, "principal"> & {
    readonly tools: BoundTools;
    /** The workspace of the run; undefined when it has none. */
    readonly workspaceId: string | undefined;
  };

/** Context of a run that nobody described. */
export const NO_CONTEXT: HookContext = { variables: {} };

/**
 * Asks the deployment's hook for the context of a run, once per run. Later incarnations use what
 * the first one stored.
 * Contract: never throws. What the hook gave is stored before anything else leaves the object.
 * Fails: the run's end.
 */
export async function loadContext(
  { claim, memory, signal: stopped }: LoopInput,
  ports: ContextPorts,
): Promise<Result<HookContext, RunEnd>> {
  const { contextHook, workspaces, workspaceId, clock, journal, log } = ports;
  if (memory.context) return ok(memory.context);
  if (!contextHook || memory.progress.lastStep > 0) return ok(NO_CONTEXT);
  const { runId, principal, assistant, context: requestContext } = claim;
  let hasReadOthers = false;
  const asked = Object.freeze({
    // Threat: the hook changes the caller that the run then acts for.
    ...frozenCopyOf({
      runId,
      assistantId: assistant?.id ?? DEFAULT_ASSISTANT_ID,
      principal,
      ...(requestContext && { requestContext }),
    }),
    ...(workspaces &&
      workspaceId !== undefined && {
        openWorkspace: openForContext({
          ...ports,
          workspaces,
          workspaceId,
          runId,
          conversationId: claim.workflowId ?? runId,
          specs: ports.tools.listToolSpecs(),
          principal,
          timeoutMs: TIMEOUT_MS,
          noteRows: () => void (hasReadOthers = true),
        }),
      }),
  });
  const abort = new AbortController();
  const patience = { clock, timeoutMs: TIMEOUT_MS, signal: stopped };
  try {
    const waited = await answerWithin(patience, () => contextHook(asked, abort.signal));
    if (waited.kind !== "answered") return fail(CONTEXT_UNAVAILABLE);
    const parsed = parseHookContext(waited.value);
    if (!parsed) return fail(CONTEXT_INVALID);
    const context = hasReadOthers ? { ...parsed, isTrusted: false } : parsed;
    // A later incarnation reads nothing as an empty context.
    if (!isEmpty(context)) journal.keepContext(context);
    return ok(context);
  } catch (thrown) {
    log.fault("context_threw", thrown);
    return fail(CONTEXT_UNAVAILABLE);
  } finally {
    abort.abort();
  }
}

function isEmpty({ variables, data }: HookContext): boolean {
  return data === undefined && Object.keys(variables).length === 0;
}
