import { createHttpModel } from "../adapters/http-model.ts";
import { createModelRouter } from "../adapters/model-router.ts";
import { sendRequest } from "../adapters/system.ts";
import type { InputBound, Model } from "../capabilities/model.ts";
import type { Clock } from "../capabilities/system.ts";
import { PROVIDERS, type Env } from "../env.ts";
import { anthropicWire } from "../wire/anthropic/wire.ts";
import { createInputBound } from "../wire/model/input-bound.ts";
import type { ModelWire } from "../wire/model/model-wire.ts";
import { openAIWire } from "../wire/openai/wire.ts";
import { responsesWire } from "../wire/responses/wire.ts";

/** The model wires of this deployment, one line each. A wire that is not listed is not bundled. */
const MODEL_WIRES: readonly ModelWire[] = [openAIWire, responsesWire, anthropicWire];

/** Assembles the models that the deployment lists and what bounds their input. */
export function composeModels(
  { models, providers }: Pick<Env, "models" | "providers">,
  clock: Clock,
): { readonly model: Model; readonly inputBound: InputBound } {
  const bound = new Map<string, ReturnType<typeof createInputBound>>();
  const callable = new Map<string, Model>();
  for (const { id, wire: wireId, settings } of models) {
    const wire = MODEL_WIRES.find((listed) => listed.id === wireId);
    const provider = providers[PROVIDERS[wireId]];
    if (!wire || !provider) continue;
    bound.set(id, createInputBound(wire));
    callable.set(id, createHttpModel({ wire, settings, ...provider, clock, fetch: sendRequest }));
  }
  return {
    model: createModelRouter(callable),
    // A model that is not listed is not asked, so nothing is sent.
    inputBound: (request) => bound.get(request.model)?.(request) ?? 0,
  };
}
