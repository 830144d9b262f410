import type { RunId } from "../identity/ids.ts";
import type { RunStatus } from "../run/state.ts";

/** One item of the list of conversations, `GET /v1/conversations`. Times are ISO 8601, UTC. */
export interface ConversationSummary {
  readonly conversationId: RunId;
  readonly title?: string;
  /** How its newest turn stands. */
  readonly status: RunStatus;
  readonly turns: number;
  readonly createdAt: string;
  /** When its newest turn began. */
  readonly updatedAt: string;
}
