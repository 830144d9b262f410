import * as v from "valibot";
import { assistantId } from "../../protocol/assistant/id.ts";
import { boundAssistant } from "../../protocol/identity/embed-grant.ts";
import type { AuthorisedRequest, Route } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { toOpenAIRefusal } from "./openai-refusal.ts";

/** The route of all clients of OpenAI. */
export const OPENAI_MODELS: Route = {
  scope: "chat",
  handle: getModels,
  formatRefusal: toOpenAIRefusal,
};

/** `GET /v1/models`: the assistants that the caller may name as models. */
async function getModels({ principal, services }: AuthorisedRequest): Promise<Response> {
  const bound = boundAssistant(principal.embed);
  try {
    const ids = bound === undefined ? await services.assistants.list(principal.tenantId) : [bound];
    const data = ids.map((id) => ({ id, object: "model", created: 0, owned_by: "interlock" }));
    return Response.json({ object: "list", data });
  } catch {
    return problem("assistant_unavailable", { headers: { "retry-after": "1" } });
  }
}

/**
 * Reads the model that a client names: an assistant, or else a model of the deployment. Contract:
 * decides nothing; the claim of the run checks both.
 */
export async function readModel(
  { principal, services }: AuthorisedRequest,
  named: string | null | undefined,
): Promise<{ readonly assistantId?: string; readonly model?: string }> {
  if (typeof named !== "string") return {};
  const isModel = services.models.some(({ id }) => id === named);
  if (!v.is(assistantId, named)) return { model: named };
  if (!isModel) return { assistantId: named };
  const found = await services.assistants.find(principal.tenantId, named).catch(() => undefined);
  return found ? { assistantId: named } : { model: named };
}
