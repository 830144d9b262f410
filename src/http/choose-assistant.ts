import type { Assistant } from "../capabilities/assistant.ts";
import { checkSettings } from "../protocol/assistant/check-settings.ts";
import { DEFAULT_ASSISTANT_ID, type AssistantDocument } from "../protocol/assistant/document.ts";
import type { DeclaredModel } from "../protocol/model/declaration.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { AuthorisedRequest } from "./authorise.ts";
import { problem } from "./problem.ts";
import type { Services } from "./services.ts";

/**
 * Finds the assistant of a request: the one that it names, or else the default. An assistant of
 * another tenant gets the same answer as an unknown one. Fails: the response to send.
 */
export async function chooseAssistant(
  { principal, services }: AuthorisedRequest,
  asked: string = DEFAULT_ASSISTANT_ID,
): Promise<Result<Assistant, Response>> {
  try {
    const found = await services.assistants.find(principal.tenantId, asked);
    return found ? ok(found) : fail(problem("assistant_not_found"));
  } catch {
    return fail(problem("assistant_unavailable", { headers: { "retry-after": "1" } }));
  }
}

/**
 * Chooses the model of a run. A deployment may have changed its models since the assistant was
 * stored. A request may not replace the model that its assistant names.
 */
export function chooseModel(
  { models }: Services,
  requested: string | undefined,
  assistant: AssistantDocument,
): Result<DeclaredModel, Response> {
  const offered = models.filter(({ id }) => id === (assistant.model ?? id));
  const model = requested === undefined ? offered[0] : offered.find(({ id }) => id === requested);
  const unfit = model ? checkSettings(assistant.settings, model) : [];
  const [first] = unfit;
  if (first) {
    const detail = `A setting does not fit: ${first.pointer} ${first.message}.`;
    return fail(problem("assistant_unusable", { detail }));
  }
  if (model) return ok(model);
  if (offered.length === 0) return fail(problem("assistant_unusable", { detail: MODEL_GONE }));
  const ids = offered.map(({ id }) => id).join(", ");
  const detail = `This model is not available here. Use one of ${ids}.`;
  return fail(problem("model_not_allowed", { detail }));
}

const MODEL_GONE = "The deployment no longer has the model of this assistant (/model).";
