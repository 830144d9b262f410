import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import { isAllowed } from "../../protocol/policy/decide.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { findTool, type LookupPorts } from "../gates/lookup-tool.ts";
import type { ConfirmationPacket } from "../../protocol/approval/packet.ts";
import type { Semantics } from "../../protocol/tool/contract-document.ts";

/** What describing takes of the run. */
export interface UndoPorts extends LookupPorts {
  readonly policy: ToolPolicy;
}

/** Describes whether a call can be undone (seeds/004, "Rollback / compensation status"). */
export function describeCompensation(
  ports: UndoPorts,
  { semantics, tool }: BoundToolRuntime["compensation"],
): ConfirmationPacket["compensation"] {
  if (semantics === "read_only") {
    return {
      reversible: true,
      tool: null,
      note: "It changes nothing, so there is nothing to undo.",
    };
  }
  if (tool === null) {
    return { reversible: false, tool, note: `It cannot be undone. ${NOTES[semantics]}`.trimEnd() };
  }
  const compensator = findTool(ports, tool);
  const reversible = !!compensator && isAllowed(ports.policy, compensator);
  const note = reversible
    ? `${tool} can undo it. ${NOTES[semantics]}`.trimEnd()
    : `${tool} would undo it, but the policy does not allow that tool.`;
  return { reversible, tool, note };
}

const NOTES: { readonly [S in Exclude<Semantics, "read_only">]: string } = {
  idempotent_write: "Doing it again changes nothing more.",
  compensable_write: "",
  irreversible_pivot: "",
  saga_step: "It is one step of several, and is undone when a later one fails.",
  retryable_post_pivot: "It follows a step that cannot be undone.",
};
