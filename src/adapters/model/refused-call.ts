import type { ModelAnswer, ModelEvent, ModelFailure } from "../../protocol/model/event.ts";

/** Answers a model call that no provider got. */
// oxlint-disable-next-line require-await
export async function* refuseCall(
  failure: ModelFailure,
): AsyncGenerator<readonly ModelEvent[], void, undefined> {
  const answer: ModelAnswer = { text: "", toolCalls: [], finish: "error", failure };
  yield [{ type: "answer", answer }];
}
