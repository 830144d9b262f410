import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { ShownStates } from "../../protocol/approval/packet.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { answerWithin } from "../../contracts/bind/answer-within.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import { readState, showState } from "../author-code/read-state.ts";

/** What asking for a preview takes of the run. */
export interface PreviewPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly policy: Pick<ToolPolicy, "budgets">;
}

const MAX_PREVIEW_MS = 5_000;

/**
 * Asks the contract for the target's state; the capabilities that it gets for this cannot act.
 * Contract: never throws. A preview that fails or does not answer leaves both states unknown.
 */
export async function previewStates(
  { clock, log, policy }: PreviewPorts,
  { tool, accepted, authority, signal }: ValiditySubject,
): Promise<ShownStates> {
  const { context, scope } = authority;
  const unknown: ShownStates = { beforeState: null, afterState: null };
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
      return plain && showState({ tool, mask: scope.mask }, plain);
    };
    return { beforeState: read(before), afterState: read(after) };
  } catch (thrown) {
    const about = { toolId: tool.id, toolVersion: tool.version, mask: scope.mask };
    log.fault("packet_incomplete", thrown, about);
    return unknown;
  }
}
