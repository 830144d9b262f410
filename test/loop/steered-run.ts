import type { SteeringInbox } from "../../src/capabilities/run-journal.ts";
import type { Model, ModelRequest } from "../../src/capabilities/model.ts";
import type { ToolCallId } from "../../src/protocol/identity/ids.ts";
import type { ModelAnswer } from "../../src/protocol/model/event.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";

export const CLAIM = {
  runId: "run_1",
  principal: { tenantId: "acme", actorId: "user:ann", roles: [], scopes: [] },
  model: "m",
  messages: [{ role: "user", text: "hi" }],
} as unknown as RunClaim;

export class MemoryInbox implements SteeringInbox {
  isClosed = false;
  #waiting: string[] = [];

  get hasSteering(): boolean {
    return this.#waiting.length > 0;
  }

  put(...texts: readonly string[]): void {
    if (!this.isClosed) this.#waiting.push(...texts);
  }

  takeAll(): readonly string[] {
    const taken = this.#waiting;
    this.#waiting = [];
    return taken;
  }

  close(): void {
    this.isClosed = true;
  }
}

export const answer = (change: Partial<ModelAnswer> = {}): ModelAnswer => ({
  text: "",
  toolCalls: [],
  finish: "stop",
  ...change,
});
export const asks = (...ids: readonly string[]): ModelAnswer =>
  answer({
    finish: "tool_calls",
    toolCalls: ids.map((id) => ({
      toolCallId: id as ToolCallId,
      name: "t",
      argumentsText: "{}",
      truncated: false,
    })),
  });

/**
 * A model that does what the test says, one function for each call; `seen` is what it was shown.
 */
export function playModel(...steps: readonly (() => ModelAnswer)[]) {
  const seen: (readonly TranscriptMessage[])[] = [];
  const model: Model = {
    async *stream({ messages }: ModelRequest) {
      seen.push([...messages]);
      yield [{ type: "answer", answer: steps[seen.length - 1]?.() ?? answer() }];
    },
  };
  return { model, seen };
}

/** Who speaks, in order; people with what they say. */
export const voices = (messages: readonly TranscriptMessage[] = []): readonly string[] =>
  messages.map((message) => (message.role === "user" ? message.text : message.role));
