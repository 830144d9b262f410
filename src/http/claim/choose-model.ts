import { checkSettings } from "../../protocol/assistant/check-settings.ts";
import type { AssistantDocument } from "../../protocol/assistant/document.ts";
import type { DeclaredModel } from "../../protocol/model/declaration.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isTenantModel, parseTenantModel } from "../../protocol/provider/tenant-model.ts";
import { declareAnswering } from "../../protocol/provider/tenant-provider.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";

/** The model of a run, and then the models that may answer in its place. */
export type AnsweringModels = readonly [DeclaredModel, ...DeclaredModel[]];

/**
 * Chooses the model of a run: that of the assistant, or else the one that the request names. A
 * request may not replace the one that its assistant names. A deployment or a tenant may have
 * changed its models since the assistant was stored. Fails: the response to send.
 */
export async function chooseModel(
  authorised: AuthorisedRequest,
  requested: string | undefined,
  assistant: AssistantDocument,
): Promise<Result<AnsweringModels, Response>> {
  const { models } = authorised.services;
  const wanted = assistant.model ?? requested ?? models[0].id;
  const found = await findModel(authorised, wanted);
  if (found.ok && wanted === (requested ?? wanted)) {
    const [unfit] = checkSettings(assistant.settings, found.value[0]);
    if (!unfit) return found;
    const detail = `A setting does not fit: ${unfit.pointer} ${unfit.message}.`;
    return fail(problem("assistant_unusable", { detail }));
  }
  if (!found.ok && found.failure === "unreadable") return fail(UNREADABLE());
  if (!found.ok && assistant.model !== undefined) return fail(refuseModel("/model"));
  const offered = found.ok ? [wanted] : models.map(({ id }) => id);
  const detail = `This model is not available here. Use one of ${offered.join(", ")}.`;
  return fail(problem("model_not_allowed", { detail }));
}

/**
 * Finds a model of the deployment, or of a provider of the tenant, and its fallbacks. A provider of
 * another tenant gets the same answer as an unknown one.
 */
export async function findModel(
  { principal, services }: AuthorisedRequest,
  id: string,
): Promise<Result<AnsweringModels, "unknown" | "unreadable">> {
  if (!isTenantModel(id)) {
    const model = services.models.find((offered) => offered.id === id);
    if (!model) return fail("unknown");
    const others = services.models.filter((other) => model.fallback.includes(other.id));
    return ok([model, ...others]);
  }
  const asked = parseTenantModel(id);
  if (!asked) return fail("unknown");
  const provider = await services.providers.find(principal.tenantId, asked.providerId);
  if (!provider.ok && provider.failure.code === "unreadable_provider") return fail("unreadable");
  const models = provider.ok ? declareAnswering(provider.value, asked) : undefined;
  return models ? ok(models) : fail("unknown");
}

/** The storage may not have answered, so a repetition may help. */
const UNREADABLE = (): Response =>
  problem("provider_unreadable", { headers: { "retry-after": "1" } });

/** Finds the model that summarises earlier turns. Fails: the response to send. */
export async function findSummaryModel(
  authorised: AuthorisedRequest,
  { history }: AssistantDocument,
): Promise<Result<DeclaredModel | undefined, Response>> {
  const { model } = history?.summary ?? {};
  if (model === undefined) return ok(undefined);
  const found = await findModel(authorised, model);
  if (found.ok) return ok(found.value[0]);
  return fail(found.failure === "unreadable" ? UNREADABLE() : refuseModel(SUMMARY_MODEL));
}

/** Where an assistant names the model that summarises earlier turns. */
export const SUMMARY_MODEL = "/history/summary/model";

function refuseModel(pointer: string): Response {
  const detail = `The model of this assistant (${pointer}) is not available any more.`;
  return problem("assistant_unusable", { detail });
}
