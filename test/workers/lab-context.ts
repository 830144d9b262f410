import type { ContextAnswer, ContextHook, ContextRequest } from "../../src/capabilities/context.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** The context hook of the laboratory, as a test sets it. */
export const labContext: {
  /** By the id of the assistant; for others the hook answers with nothing. */
  readonly answers: Map<
    string,
    (signal: AbortSignal, request: ContextRequest) => Promise<ContextAnswer>
  >;
  /** What the hook was asked for these assistants. */
  readonly asked: ContextRequest[];
} = { answers: new Map(), asked: [] };
beforeEachFile(() => {
  labContext.answers.clear();
  labContext.asked.length = 0;
});

export const askLabContext: ContextHook = async (request, signal) => {
  const answer = labContext.answers.get(request.assistantId);
  if (!answer) return {};
  labContext.asked.push(request);
  return answer(signal, request);
};
