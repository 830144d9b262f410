import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import type { Log } from "../../capabilities/log.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { PacketStep } from "../../protocol/approval/packet.ts";
import { withheldPaths } from "../../protocol/json/withheld-paths.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import { GateTrail } from "../gates/gate.ts";
import { findTool, type LookupPorts } from "../gates/lookup-tool.ts";
import { readArguments } from "../gates/read-arguments.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import { writeArguments } from "../author-code/write-arguments.ts";
import { describeAction } from "./describe-action.ts";

/** What planning takes of the run. */
export interface PlanStepsPorts extends LookupPorts {
  readonly fingerprints: Fingerprints;
  readonly log: Log;
}

/** Longest shown arguments of one step. Unit: bytes of JSON in UTF-8. */
const MAX_SHOWN_BYTES = 4 * 1024;

/**
 * Plans the steps of a saga before its first one, for its approvers. A step whose arguments need
 * the result of another step, do not fit or are too long to show has no payload: it is not part of
 * what people approve. Undefined for a tool that is no saga.
 * Contract: never throws for what an author's function does.
 */
export async function planSteps(
  ports: PlanStepsPorts,
  { tool, accepted, authority }: Pick<ValiditySubject, "tool" | "accepted" | "authority">,
): Promise<readonly PacketStep[] | undefined> {
  const { saga } = tool;
  if (!saga) return undefined;
  return Promise.all(
    saga.steps.map(async ({ toolId, arguments: make }): Promise<PacketStep> => {
      const step = findTool(ports, toolId);
      const made = attempt(() => make(accepted.args, []));
      const payload = step ? await showPayload(ports, step, { made, authority }) : null;
      return { tool: toolId, version: step?.version ?? "unknown", payload };
    }),
  );
}

/** An author's function throws when it needs the result of a step that was not made yet. */
function attempt(make: () => unknown): unknown {
  try {
    return make();
  } catch {
    return undefined;
  }
}

async function showPayload(
  { fingerprints, log }: PlanStepsPorts,
  step: BoundToolRuntime,
  { made, authority }: { readonly made: unknown } & Pick<ValiditySubject, "authority">,
): Promise<PacketStep["payload"]> {
  try {
    const argumentsText = writeArguments(made);
    if (argumentsText === undefined) return null;
    const read = await readArguments(step, { argumentsText, truncated: false }, new GateTrail());
    if (!read.ok) return null;
    const { args, shown, payloadHash } = read.value;
    if (utf8Bytes(JSON.stringify(shown)) > MAX_SHOWN_BYTES) return null;
    return {
      title: describeAction(log, step, read.value).title,
      arguments: { shown, withheld: withheldPaths(args, shown) },
      fingerprint: await fingerprints.of(authority.context, payloadHash),
    };
  } catch {
    return null;
  }
}
