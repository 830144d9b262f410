import type { Model } from "../capabilities/model.ts";
import type { ModelAnswer } from "../protocol/model/event.ts";

/**
 * Builds a Model that hands each call to the model that the request names.
 * Contract: that of Model. Fails: upstream_not_configured, when the deployment dropped the model
 * after the run began.
 */
export function createModelRouter(models: ReadonlyMap<string, Model>): Model {
  return {
    stream: (request, signal) => models.get(request.model)?.stream(request, signal) ?? refuse(),
  };
}

// oxlint-disable-next-line require-await
async function* refuse() {
  const detail = "the deployment no longer lists the model";
  const failure = { code: "upstream_not_configured", detail } as const;
  const answer: ModelAnswer = { text: "", toolCalls: [], finish: "error", failure };
  yield [{ type: "answer" as const, answer }];
}
