import type { RunId } from "../identity/ids.ts";
import type { EventPosition } from "./event-id.ts";
import type { ChatRequestBody } from "./chat-request.ts";
import type { ShownTool } from "../tool/spec.ts";
import type { DirectCall } from "./direct-call.ts";

/** What the words of a post become while the run before them goes on: a message to that run. */
export interface Aside {
  /** What a repetition of the post is known by. Absent: each post is another message. */
  readonly name?: string;
  /** The client holds the message under the id in the body. */
  readonly isHeld?: true;
  /** Answers with what the run does after the event that tells of the message. */
  readonly follow: (runId: RunId, at: EventPosition) => Promise<Response>;
}

/**
 * What a client asks of a new run, whatever way it came in. Its shape is checked, and nothing else:
 * `claimRun` turns it into the claim of a run.
 */
export interface RunRequest {
  readonly runId: RunId;
  /** `sha256:…` over the body in canonical JSON; present for a request with an idempotency key. */
  readonly requestHash?: string;
  /** The run with which the chat begins that the client names itself. */
  readonly chat?: RunId;
  /** The client's name of its chat stands for the idempotency key. */
  readonly isOfChat?: true;
  /** What the client named. A call has no messages. */
  readonly body: ChatRequestBody;
  /** Size of the request. Unit: bytes. */
  readonly bodyBytes: number;
  /** The only call of the run. Absent: a model answers the messages. */
  readonly call?: DirectCall;
  /** Tools that the client declared and runs itself. */
  readonly clientTools?: readonly ShownTool[];
  /** The messages are the results of such tools, which a turn has once. */
  readonly isResults?: true;
  /** Absent: a post waits until the run before it has ended. */
  readonly aside?: Aside;
}
