import * as v from "valibot";
import { parameters, readQuery } from "../request/list-query.ts";
import { chooseAssistant } from "../claim/choose-assistant.ts";
import { chooseModel } from "../claim/choose-model.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Reads what a page shows of its assistant. */
export const PAGE_TEXT_ROUTES: Routes = {
  "/v1/page": { GET: { scope: "chat", handle: getPageTexts } },
};

export const query = v.strictObject({ assistant: parameters.text, model: parameters.text });

/**
 * `GET /v1/page`: heading and suggestions of the assistant that a chat of the caller would use, and
 * which files its model takes.
 * Threat: a page that reads instructions. The answer names each field that it shows.
 */
async function getPageTexts(authorised: AuthorisedRequest): Promise<Response> {
  const read = readQuery(authorised.request, query);
  if (!read.ok) return read.failure;
  const found = await chooseAssistant(authorised, read.value.assistant);
  if (!found.ok) return found.failure;
  const { pin, document } = found.value;
  const { heading, suggestions } = document;
  const model = authorised.principal.embed?.model ?? read.value.model;
  const answering = await chooseModel(authorised, model, document);
  const can = answering.ok ? answering.value[0].can : { images: false, files: false };
  const takes = { images: can.images, documents: can.files };
  return Response.json({ assistantId: pin.id, ...(heading && { heading }), suggestions, takes });
}
