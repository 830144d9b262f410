import type { AuditEntry } from "../protocol/audit/entry.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import { actorsOf } from "../protocol/identity/principal.ts";
import type { InvocationEnd } from "../protocol/invocation/record.ts";
import type { ActiveCall, ToolRunnerPorts } from "./active-call.ts";
import type { GateResults } from "./gates/trail.ts";
import { WRAPPER_VERSION } from "../protocol/audit/entry.ts";
import { toIso } from "../protocol/text/iso-time.ts";

/** What the last attempt at a call leaves for the audit log. */
export interface Grounds {
  readonly gates?: GateResults | undefined;
  /** Redacted arguments; absent when they never passed validation. */
  readonly args?: JsonObject | undefined;
  /** Over the validated arguments. */
  readonly payloadHash?: string | undefined;
}

/** What of the runner's ports an audit entry names; absent where a broken run is closed. */
export type AuditPorts = Partial<Pick<ToolRunnerPorts, "principal" | "pin">>;

/** A call that ended; it may not even have found its tool. */
type EndedCall = Pick<ActiveCall, "context"> &
  Partial<Pick<ActiveCall, "tool">> & {
    readonly ports: Pick<ToolRunnerPorts, "invocations"> & AuditPorts;
  };

/** Words how a call ended, for the tenant's audit log. What it was called and given is redacted, as everywhere. */
export function auditCall(call: EndedCall, end: InvocationEnd, grounds: Grounds): AuditEntry {
  const { ports, context, tool } = call;
  const { observation, startedAtMs, endedAtMs } = end;
  const { data, errors } = observation.result_payload;
  const record = ports.invocations.find(context);
  const args = grounds.args ?? record?.binding?.args;
  const payloadHash = grounds.payloadHash ?? record?.binding?.payloadHash;
  const version = tool?.version ?? record?.binding?.version;
  return {
    action: "call.ended",
    at: toIso(endedAtMs),
    ...actorsOf(ports.principal ?? context),
    runId: context.runId,
    ...(record && { invocationId: `inv_${record.number}` }),
    toolId: observation.tool_identity.name,
    ...(version !== undefined && { toolVersion: version }),
    wrapperVersion: WRAPPER_VERSION,
    ...(payloadHash !== undefined && { payloadHash }),
    ...(ports.pin && { policyHash: ports.pin.hash, policyRevision: ports.pin.revision }),
    ...(errors[0] && { reason: errors[0].code }),
    ...(grounds.gates && { gates: grounds.gates }),
    outcome: observation.status.taxonomy_class,
    durationMs: Math.max(0, Math.round(endedAtMs - startedAtMs)),
    ...(args && { input: args }),
    ...(data && { result: data }),
  };
}
