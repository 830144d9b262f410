import type { ToolCardCall } from "./tool-card-call.ts";

/** The events of the chat for the page around it, with their details. */
export interface ChatEvents {
  /** A run began, waits for people, or ended. `reason` says how it ended. */
  readonly run: {
    readonly runId: string;
    readonly state: "started" | "waiting" | "ended";
    readonly reason?: string;
  };
  /** A tool call came to another state. */
  readonly tool: ToolCardCall & { readonly runId: string };
  /** An approval was requested, or was decided. */
  readonly approval: {
    readonly runId: string;
    readonly approvalId: string;
    readonly toolId: string;
    readonly title: string;
    readonly riskClass: string;
    readonly status: string;
  };
  /** The chat shows its reader that something failed. */
  readonly error: { readonly code: string; readonly message: string; readonly runId?: string };
}
