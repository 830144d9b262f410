import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { ConfirmationPacket } from "../../protocol/approval/packet.ts";
import type { Semantics } from "../../protocol/tool/contract-document.ts";

/** Describes whether a call can be undone (seeds/004, "Rollback / compensation status"). */
export function describeCompensation({
  semantics,
  tool,
}: BoundToolRuntime["compensation"]): ConfirmationPacket["compensation"] {
  if (semantics === "read_only") {
    return {
      reversible: true,
      tool: null,
      note: "It changes nothing, so there is nothing to undo.",
    };
  }
  const isPivot = semantics === "irreversible_pivot";
  const reversible = tool !== null && !isPivot;
  const undo = tool === null ? "No tool can undo it." : `${tool} can undo it.`;
  const note = isPivot ? PIVOT : `${undo} ${NOTES[semantics]}`.trimEnd();
  return { reversible, tool: isPivot ? null : tool, note };
}

const PIVOT = "It cannot be undone.";

const NOTES: { readonly [S in Exclude<Semantics, "read_only" | "irreversible_pivot">]: string } = {
  idempotent_write: "Doing it again changes nothing more.",
  compensable_write: "",
  saga_step: "It is one step of several, and is undone when a later one fails.",
  retryable_post_pivot: "It follows a step that cannot be undone.",
};
