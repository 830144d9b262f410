import * as v from "valibot";
import type { AssistantChange, AssistantProposal } from "../../capabilities/assistant.ts";
import { specsOf } from "../../contracts/catalog/registered.ts";
import { matchAssistant } from "../../contracts/policy/match-assistant.ts";
import { checkSettings } from "../../protocol/assistant/check-settings.ts";
import { assistantDocument, type AssistantDocument } from "../../protocol/assistant/document.ts";
import { assistantId, DEFAULT_ASSISTANT_ID } from "../../protocol/assistant/id.ts";
import type { AssistantPin } from "../../protocol/assistant/pin.ts";
import { warnAboutAssistant } from "../../protocol/assistant/warn-assistant.ts";
import { actorsOf } from "../../protocol/identity/principal.ts";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import { parameters, readQuery } from "../request/list-query.ts";
import { readPrecondition, toETag } from "../request/precondition.ts";
import { findModel, SUMMARY_MODEL } from "../claim/choose-model.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/**
 * Reads and changes the assistants of a tenant.
 * Threat: a page that reads or changes instructions. Embed tokens are refused, whatever they hold.
 */
export const ASSISTANT_ROUTES: Routes = {
  "/v1/assistants": {
    GET: { scope: "assistants:read", refusesEmbedTokens: true, handle: getAssistants },
  },
  "/v1/assistants/:id": {
    GET: { scope: "assistants:read", refusesEmbedTokens: true, handle: getAssistant },
    PUT: { scope: "assistants:write", refusesEmbedTokens: true, handle: putAssistant },
    DELETE: { scope: "assistants:write", refusesEmbedTokens: true, handle: deleteAssistant },
  },
};

export const query = v.strictObject({ hash: parameters.text });

/** `GET /v1/assistants`: the stored assistants of the tenant, by id. */
async function getAssistants({ principal, services }: AuthorisedRequest): Promise<Response> {
  const assistants = await services.assistantRegistry.list(principal.tenantId);
  return Response.json({ assistants });
}

/** `GET /v1/assistants/:id`: the current document, or with `?hash=` an earlier one. */
async function getAssistant(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services, id } = authorised;
  const { tenantId } = principal;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const { hash } = read.value;
  const stored = await services.assistantRegistry.read(tenantId, id, hash);
  if (stored) return answer(stored.pin, { assistant: JSON.parse(stored.text) as JsonObject });
  services.assistants.forget(tenantId, id);
  const own = id === DEFAULT_ASSISTANT_ID && (await services.assistants.find(tenantId, id));
  if (!own || (hash !== undefined && hash !== own.pin.hash)) return problem("assistant_not_found");
  return answer(own.pin, { assistant: own.document as JsonValue });
}

/** `PUT /v1/assistants/:id`: stores or replaces an assistant that has the expected revision. */
async function putAssistant(authorised: AuthorisedRequest): Promise<Response> {
  const { request, id } = authorised;
  const expected = readPrecondition(request.headers);
  if (!expected.ok) return expected.failure;
  if (!v.is(assistantId, id)) return problem("assistant_id_invalid");
  const body = await readJson(request, assistantDocument);
  if (!body.ok) return body.failure;
  const refusal = await refuseDocument(authorised, body.value);
  if (refusal) return refusal;
  const text = toCanonicalJson(body.value as JsonValue);
  const change = await propose(authorised, { text, expectedRevision: expected.value });
  if (change.kind !== "changed") return refuseChange(change);
  const warnings = warnAboutAssistant(body.value, authorised.services);
  return answer(change.pin, warnings.length > 0 ? { warnings: warnings.slice(0, 20) } : {});
}

/** `DELETE /v1/assistants/:id`: removes an assistant. Runs that use it keep their document. */
async function deleteAssistant(authorised: AuthorisedRequest): Promise<Response> {
  const expected = readPrecondition(authorised.request.headers);
  if (!expected.ok) return expected.failure;
  const change = await propose(authorised, { expectedRevision: expected.value });
  return change.kind === "changed" ? new Response(null, { status: 204 }) : refuseChange(change);
}

/** Fails: throws when the tenant's object does not answer. */
async function propose(
  { principal, services, id }: AuthorisedRequest,
  change: Pick<AssistantProposal, "text" | "expectedRevision">,
): Promise<AssistantChange> {
  const { tenantId } = principal;
  const proposal = { id, by: actorsOf(principal), ...change };
  const answered = await services.assistantRegistry.change(tenantId, proposal);
  services.assistants.forget(tenantId, id);
  return answered;
}

/** Tells what of a valid document this deployment or the tenant's policy does not offer. */
async function refuseDocument(
  authorised: AuthorisedRequest,
  document: AssistantDocument,
): Promise<Response | undefined> {
  const { principal, services } = authorised;
  const { model, settings, history } = document;
  const named = model === undefined ? undefined : await findModel(authorised, model);
  if (named?.ok === false) return refuseModel("/model");
  const summary = history?.summary && (await findModel(authorised, history.summary.model));
  if (summary?.ok === false) return refuseModel(SUMMARY_MODEL);
  // A request may choose any model of the deployment, if the assistant names none.
  const models = named ? [named.value[0]] : services.models;
  const unfit = models.map((known) => checkSettings(settings, known)).find(hasItems);
  if (unfit) return problem("invalid_request", { errors: unfit });
  const { policy } = await services.policies.load(principal.tenantId);
  const nowMs = services.clock.nowMs();
  const errors = matchAssistant(document, {
    specs: specsOf(await authorised.contracts()),
    policy,
    nowMs,
  });
  return errors.length > 0 ? problem("tool_not_available", { errors }) : undefined;
}

function refuseModel(pointer: string): Response {
  const message = "is not a model of this deployment or of a provider of the tenant";
  return problem("model_not_allowed", { errors: [{ pointer, message }] });
}

function hasItems(list: readonly unknown[]): boolean {
  return list.length > 0;
}

function answer({ id, revision, hash }: AssistantPin, more: object): Response {
  const isStored = revision !== undefined;
  const body = { id, ...(isStored && { revision }), hash, ...more };
  return Response.json(body, { headers: isStored ? { etag: toETag(revision) } : {} });
}

function refuseChange(change: Exclude<AssistantChange, { kind: "changed" }>): Response {
  if (change.kind === "full") return problem("too_many_assistants");
  const { pin } = change;
  if (!pin) {
    return problem("precondition_failed", { detail: "The tenant has stored no such assistant." });
  }
  const { revision } = pin;
  return problem("precondition_failed", { revision, headers: { etag: toETag(revision) } });
}
