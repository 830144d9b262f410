import type { ActorId, RunId } from "../identity/ids.ts";

/** What a person thinks of an answer. */
export interface Feedback {
  readonly rating: "up" | "down";
  readonly comment?: string | undefined;
}

/** Feedback as operators list it. */
export interface ListedFeedback extends Feedback {
  /** The run that answered. */
  readonly runId: RunId;
  readonly conversationId: RunId;
  /** Who gave it. */
  readonly actorId: ActorId;
  /** ISO 8601, UTC. */
  readonly at: string;
}
