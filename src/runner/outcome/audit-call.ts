import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { EscalationReason } from "../../protocol/escalation/escalation.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { actorsOf } from "../../protocol/identity/principal.ts";
import { nameSources } from "../../protocol/label/source.ts";
import type { InvocationEnd, ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { RequestedCall } from "../active-call.ts";
import type { GateResults } from "../gates/gate.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import type { ToolRunnerPorts } from "../ports.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { WRAPPER_VERSION } from "../../protocol/audit/entry.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import { invocationIdOf } from "../../protocol/invocation/id.ts";

/** What the last attempt at a call contributes to its audit entry. */
export interface Grounds {
  readonly gates?: GateResults | undefined;
  /** Redacted arguments; absent when they never passed validation. */
  readonly shownArgs?: JsonObject | undefined;
  /** Over the validated arguments. */
  readonly payloadHash?: string | undefined;
}

/**
 * What an audit entry takes of the run; principal and pin are absent when a broken run is closed.
 */
export interface AuditPorts extends Partial<Pick<ToolRunnerPorts, "principal" | "pin">> {
  readonly invocations: Pick<InvocationLedger, "find">;
}

/** A call that ended. Its tool may not have been found. */
interface EndedCall {
  readonly context: ToolInvocationContext;
  readonly tool?: BoundToolRuntime;
}

interface Ended {
  readonly end: InvocationEnd;
  readonly grounds: Grounds;
  readonly escalation: EscalationReason | undefined;
}

/** Builds the audit entry of a call that ended; its arguments and its output are redacted. */
export function auditCall(
  ports: AuditPorts,
  { context, tool }: EndedCall,
  { end, grounds, escalation }: Ended,
): AuditEntry {
  const { observation, startedAtMs, endedAtMs } = end;
  const { data, errors } = observation.result_payload;
  const record = ports.invocations.find(context);
  const shownArgs = grounds.shownArgs ?? record?.binding?.shownArgs;
  const payloadHash = grounds.payloadHash ?? record?.binding?.payloadHash;
  const version = tool?.version ?? record?.binding?.version;
  return {
    action: "call.ended",
    at: toIso(endedAtMs),
    ...actorsOf(ports.principal ?? context),
    runId: context.runId,
    ...(record && { invocationId: invocationIdOf(record.number) }),
    toolId: observation.tool_identity.name,
    ...(version !== undefined && { toolVersion: version }),
    wrapperVersion: WRAPPER_VERSION,
    ...(payloadHash !== undefined && { payloadHash }),
    ...(ports.pin && { policyHash: ports.pin.hash, policyRevision: ports.pin.revision }),
    ...(errors[0] && { reason: errors[0].code }),
    ...(end.errorId !== undefined && { errorId: end.errorId }),
    ...(end.detail !== undefined && { detail: end.detail }),
    ...(grounds.gates && { gates: grounds.gates }),
    ...(record?.after && { after: nameSources(record.after) }),
    outcome: observation.status.taxonomy_class,
    ...(escalation && { escalation, ...(tool && nameTool(tool)) }),
    durationMs: Math.max(0, Math.round(endedAtMs - startedAtMs)),
    ...(shownArgs && { input: shownArgs }),
    ...(data && { result: data }),
  };
}

/**
 * Builds the audit entry of a call that never became one: its operation belongs to another call, or
 * is running. It names nothing of the call that holds the operation.
 */
export function auditTurnedAway(
  { principal, pin }: Pick<AuditPorts, "principal" | "pin">,
  { toolCall, context }: RequestedCall,
  { failure, nowMs }: { readonly failure: ToolFailure; readonly nowMs: number },
): AuditEntry {
  return {
    action: "call.ended",
    at: toIso(nowMs),
    ...actorsOf(principal ?? context),
    runId: context.runId,
    toolId: toolCall.name,
    wrapperVersion: WRAPPER_VERSION,
    ...(pin && { policyHash: pin.hash, policyRevision: pin.revision }),
    ...(failure.errors[0] && { reason: failure.errors[0].code }),
    gates: { passed: [], refusedBy: "ledger" },
    outcome: failure.taxonomyClass,
  };
}

/** Says which tool a person must look at, and who is responsible for it. */
function nameTool({ owner, spec }: BoundToolRuntime): Partial<AuditEntry> {
  return { toolOwner: owner, ...(spec.title !== undefined && { toolTitle: spec.title }) };
}
