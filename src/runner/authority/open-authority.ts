import { failCall } from "../../protocol/outcome/failures.ts";
import type { BoundConnection, ConnectionBroker } from "../../capabilities/connection.ts";
import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { BoundToolRuntime, AttemptScope } from "../../capabilities/tool.ts";
import type { WriteState } from "../../capabilities/workspace.ts";
import type { ConnectionId, RunId } from "../../protocol/identity/ids.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { deriveIdempotencyKey } from "../../protocol/invocation/idempotency-key.ts";
import type { InvocationBinding, ToolInvocationContext } from "../../protocol/invocation/record.ts";
import { joinSources, nameSources } from "../../protocol/label/source.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import { maskValues } from "../../protocol/secrets/mask-values.ts";
import { lazily } from "../../protocol/text/lazily.ts";
import { findSecret } from "../../protocol/secrets/secret-shapes.ts";
import { timeoutOf } from "../author-code/timeout-of.ts";
import { mutates } from "../active-call.ts";
import { operationIdOf, type InvocationLedger } from "../invocation/invocation-ledger.ts";
import { TOOL_FAILED } from "../outcome/tool-failure.ts";
import { progressReporter, type Reporting } from "./report-progress.ts";

/**
 * Why a capability no longer answers. One for all attempts: a stack for each would cost 20 µs. At
 * the top level of a module, a stack would cost workerd a second parse of the whole script.
 */
const closed = lazily(() =>
  Object.freeze(new DOMException("The attempt has ended.", "AbortError")),
);

/** What one attempt runs with. */
export interface Authority {
  readonly context: ToolInvocationContext;
  readonly scope: AttemptScope;
  /**
   * Fingerprint of the account and the addresses that a write reaches: of the connection's secrets
   * and of the upstreams. Absent when it has neither.
   */
  readonly target?: string;
  /** What the ledger of the workspace said last; undefined when it was not asked to write. */
  readonly write: () => WriteState | undefined;
  /** Revokes every capability of the attempt. */
  close(): void;
}

/** What opening an authority takes of the run. */
export interface AuthorityPorts {
  readonly broker: ConnectionBroker;
  readonly fingerprints: Fingerprints;
  readonly principal: Principal;
  readonly workflowId: RunId;
  readonly journal: Pick<RunJournal, "append">;
  readonly invocations: Pick<InvocationLedger, "find" | "noteRows">;
  readonly clock: Pick<Clock, "nowMs">;
  readonly log: Log;
  readonly policy: Pick<ToolPolicy, "budgets">;
}

/** A call that policy allows. */
interface AllowedCall {
  readonly tool: BoundToolRuntime;
  readonly context: ToolInvocationContext;
  readonly accepted: Reporting["accepted"] & { readonly payloadHash: string };
  readonly connectionId: ConnectionId | undefined;
  readonly workspaceId: string | undefined;
}

/**
 * Gives an attempt its context, its idempotency key and the capabilities that carry authority. Each
 * is bound to this attempt alone (seeds/000 #29a).
 * Fails: PERMISSION_DENIED when the connection does not exist; DEPENDENCY_UNAVAILABLE when it
 * cannot be read; UNKNOWN_ERROR when a secret would enter the context.
 */
export async function openAuthority(
  ports: AuthorityPorts,
  call: AllowedCall,
): Promise<Result<Authority, ToolFailure>> {
  const { connectionId, workspaceId } = call;
  const { subjectId, tenantId } = ports.principal;
  const context: ToolInvocationContext = {
    ...call.context,
    ...(subjectId !== undefined && { subjectId }),
    ...(connectionId !== undefined && { connectionId }),
    ...(workspaceId !== undefined && { workspaceId }),
  };
  if (findSecret(context) !== undefined) return TOOL_FAILED;
  const abort = new AbortController();
  let connection: BoundConnection | undefined;
  if (connectionId !== undefined) {
    const bound = await ports.broker.bind(tenantId, connectionId, {
      signal: abort.signal,
      call: context,
    });
    if (!bound.ok) return refuseConnection(bound.failure.code);
    connection = bound.value;
  }
  let write: WriteState | undefined;
  const mask = maskValues(connection?.secrets ?? []);
  const rowSources = rowSourcesOf(ports, context);
  const scope: AttemptScope = {
    signal: abort.signal,
    idempotencyKey: await keyOf(ports, call),
    conversationId: ports.workflowId,
    timeoutMs: timeoutOf(ports.policy, call.tool),
    noteWrite: (state) => void (write = state),
    rowSources,
    progress: {
      report: progressReporter(ports, call, { signal: abort.signal, mask, rowSources }),
    },
    ...(connection && { auth: connection.auth }),
    mask,
  };
  const target = await targetOf(ports, call, connection?.secrets ?? []);
  const reached = target === undefined ? {} : { target };
  return ok({ context, scope, ...reached, write: () => write, close: () => abort.abort(closed()) });
}

function rowSourcesOf(
  { invocations }: AuthorityPorts,
  context: ToolInvocationContext,
): AttemptScope["rowSources"] {
  return {
    list() {
      const { after = [], rowSources } = invocations.find(context) ?? {};
      return nameSources(joinSources(after, rowSources));
    },
    hasRead: () => invocations.find(context)?.rowSources !== undefined,
    note: (sources) => invocations.noteRows(context, sources),
  };
}

/** Threat: a repeated write reaches another account, which does not know its key. */
async function targetOf(
  { fingerprints }: AuthorityPorts,
  { tool, context }: AllowedCall,
  secrets: readonly string[],
): Promise<string | undefined> {
  const reached = [...secrets, ...tool.addresses];
  if (!mutates(tool) || reached.length === 0) return undefined;
  return fingerprints.of(context, JSON.stringify([secrets, tool.addresses]));
}

/**
 * Tells whether a call reaches another account or address than the one that it was bound to. The
 * binding of an earlier release does not tell.
 */
export function hasOtherTarget(
  bound: Pick<InvocationBinding, "target"> | undefined,
  { target }: Pick<Authority, "target">,
): boolean {
  return bound?.target !== undefined && bound.target !== target;
}

function keyOf(
  { principal, workflowId }: AuthorityPorts,
  { tool, context, accepted }: AllowedCall,
): Promise<string> {
  const { actorId, subjectId, tenantId } = principal;
  return deriveIdempotencyKey({
    workflowId,
    runId: context.runId,
    tenantId,
    userId: subjectId ?? actorId,
    toolName: tool.id,
    toolVersion: tool.version,
    logicalOperationId: operationIdOf(context),
    payloadHash: accepted.payloadHash,
  });
}

function refuseConnection(
  code: "unknown_connection" | "unreadable_connection",
): Result<never, ToolFailure> {
  return failCall(code);
}
