import { createHttpModel } from "../../src/adapters/model/http-model.ts";
import type { Model } from "../../src/capabilities/model.ts";
import type { ConfiguredModels } from "../../src/compose/models.ts";
import type { CheckedModel, CheckPorts } from "./check-models.ts";

/**
 * Sends each model a short message, and reports those whose answer is of another wire. Other
 * failures of an answer change nothing. Never throws; never repeats a provider's text.
 */
export function askModels(
  { models, providers, wires }: ConfiguredModels,
  checked: readonly CheckedModel[],
  fetch: CheckPorts["fetch"],
): Promise<readonly CheckedModel[]> {
  const asked = checked.map(async (one): Promise<CheckedModel> => {
    const [model, provider] = [models.get(one.id), providers.get(one.id)];
    const wire = wires.find(({ id }) => id === model?.wire);
    if (!model || !provider || !wire) return one;
    const failure = await failureOf(createHttpModel({ ...provider, model, wire, fetch }), one.id);
    if (failure?.code !== "upstream_wrong_wire") return one;
    return { ...one, state: "wrong_wire", reason: failure.detail };
  });
  return Promise.all(asked);
}

async function failureOf(endpoint: Model, model: string) {
  const request = { model, messages: [{ role: "user", text: "Hello" }], tools: [] } as const;
  for await (const batch of endpoint.stream(request, new AbortController().signal)) {
    const last = batch.at(-1);
    if (last?.type === "answer") return last.answer.failure;
  }
  return undefined;
}
