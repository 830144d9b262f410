import type { RunId } from "../../protocol/identity/ids.ts";
import { formatClientCallId } from "./client-call-id.ts";
import type { AiEvent } from "../../protocol/run/event.ts";

/** One item of a response's output. It changes until it is done. */
export interface OutputItem {
  readonly id: string;
  status: "in_progress" | "completed" | "incomplete" | "failed";
  [member: string]: unknown;
}

/** How texts stand in an item, and what the events of each kind are called. */
export const TEXT_KINDS = {
  text: {
    prefix: "msg",
    members: { type: "message", role: "assistant" },
    list: "content",
    index: "content_index",
    part: "content_part",
    delta: "output_text",
    empty: { type: "output_text", text: "", annotations: [], logprobs: [] },
    beside: { logprobs: [] },
  },
  reasoning: {
    prefix: "rs",
    members: { type: "reasoning" },
    list: "summary",
    index: "summary_index",
    part: "reasoning_summary_part",
    delta: "reasoning_summary_text",
    empty: { type: "summary_text", text: "" },
    beside: {},
  },
} as const;

export type TextKind = keyof typeof TEXT_KINDS;

type EventOf<Type extends AiEvent["type"]> = Extract<AiEvent, { readonly type: Type }>;

/** The tools of a deployment are no server of the client's. */
const server_label = "interlock";

/** Asks the caller for an approval. The packet stands beside what the protocol shows. */
export function toApprovalRequest(event: EventOf<"approval_requested">): OutputItem {
  const { approval, packet, lines } = event;
  return {
    id: approval.approvalId,
    type: "mcp_approval_request",
    status: "in_progress",
    server_label,
    name: packet.actionName.tool,
    arguments: JSON.stringify(packet.arguments.shown),
    approval,
    packet,
    lines,
  };
}

/** A call of a tool of the client. */
export function toClientCall(runId: RunId, part: number, name: string): OutputItem {
  const call_id = formatClientCallId(runId, part);
  const id = `fc_${call_id}`;
  return { id, type: "function_call", status: "in_progress", call_id, name, arguments: "" };
}

/** A call that is about to run, or that was refused. */
export function toCall(id: string, name: string, approval_request_id: string | null): OutputItem {
  return {
    id,
    type: "mcp_call",
    status: "in_progress",
    server_label,
    name,
    arguments: "",
    output: null,
    error: null,
    approval_request_id,
  };
}
