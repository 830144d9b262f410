import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { ConfirmationPacket } from "../../protocol/approval/packet.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { withheldPaths } from "../../protocol/json/withheld-paths.ts";
import { answerWithin } from "../answer-within.ts";
import { readState, showState } from "../read-state.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import { describeAction } from "./describe-action.ts";
import { describeCompensation, type UndoPorts } from "./describe-compensation.ts";
import { toIso } from "../../protocol/text/iso-time.ts";

/** What building a packet takes of the run. */
export interface PacketPorts extends UndoPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly fingerprints: Fingerprints;
}

/**
 * Builds the packet that approvers see before they decide (seeds/004, "Confirmation Gates").
 * Contract: never throws for what an author's `describe` or `preview` does. Where they fail, the
 * packet has default texts and says that a state is not known.
 */
export async function buildPacket(
  ports: PacketPorts,
  subject: ValiditySubject,
  expiresAtMs: number,
): Promise<ConfirmationPacket> {
  const { tool, accepted, invocation } = subject;
  const { args, shown } = accepted;
  const { context, scope } = invocation;
  const { workspaceId } = context;
  const states = await previewStates(ports, subject);
  const described = { args, shown, before: states.beforeState };
  const { title, consequence } = describeAction(ports.log, tool, described);
  return {
    actionName: { title, tool: tool.id, version: tool.version },
    consequence,
    ...(workspaceId !== undefined && { workspaceId }),
    arguments: { shown, withheld: withheldPaths(args, shown) },
    ...states,
    idempotencyFingerprint: await ports.fingerprints.of(context, scope.idempotencyKey),
    riskClass: tool.sideEffectClass,
    expiresAt: toIso(expiresAtMs),
    compensation: describeCompensation(ports, tool.compensation),
    rejectionPath:
      "The tool does not run. A model that asked for it is told, and may go on without it.",
    traceId: context.runId,
  };
}

const MAX_PREVIEW_MS = 5_000;

type States = Pick<ConfirmationPacket, "beforeState" | "afterState">;

/** Asks the contract for the target's state; the capabilities that it gets for this cannot act. */
async function previewStates(
  { clock, log, policy }: PacketPorts,
  subject: ValiditySubject,
): Promise<States> {
  const { tool, accepted, invocation, signal } = subject;
  const { context, scope } = invocation;
  const unknown: States = { beforeState: null, afterState: null };
  const { preview } = tool;
  if (!preview) return unknown;
  const { maxRuntimeMs = MAX_PREVIEW_MS } = policy.budgets;
  const timeoutMs = Math.min(MAX_PREVIEW_MS, maxRuntimeMs, tool.timeoutMs);
  try {
    const ask = (): Promise<unknown> => preview(accepted.args, context, scope);
    const waited = await answerWithin({ clock, timeoutMs, signal }, ask);
    if (waited.kind !== "answered") return unknown;
    const { before, after } = (waited.value ?? {}) as Readonly<Record<string, unknown>>;
    const read = (state: unknown): JsonObject | null => {
      const plain = readState(state);
      return plain && showState({ tool, hide: scope.hide }, plain);
    };
    return { beforeState: read(before), afterState: read(after) };
  } catch (thrown) {
    const about = { toolId: tool.id, toolVersion: tool.version, hide: scope.hide };
    log.fault("packet_incomplete", thrown, about);
    return unknown;
  }
}
