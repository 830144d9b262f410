import type { Assistant } from "../../capabilities/assistant.ts";
import type { SentFiles } from "../../protocol/conversation/sent-file.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { isTenantModel } from "../../protocol/provider/tenant-model.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { NO_MODEL } from "../../protocol/run/direct-call.ts";
import type { RunRequest } from "../../protocol/run/request.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { chooseModel, findSummaryModel } from "./choose-model.ts";
import { refuseForModel } from "./message-files.ts";

/** What a claim holds of the model that answers. */
export type Answering = Pick<
  RunClaim,
  "model" | "ownModel" | "ownFallbacks" | "ownSummaryModel" | "instructions"
>;

/**
 * Chooses the model that answers under the instructions of the assistant; none answers a direct
 * call. Fails: the response to send.
 */
export async function chooseAnswering(
  authorised: AuthorisedRequest,
  { body, bodyBytes }: RunRequest,
  { assistant, files }: { readonly assistant: Assistant | undefined; readonly files: SentFiles },
): Promise<Result<Answering, Response>> {
  if (!assistant) return ok({ model: NO_MODEL });
  const { document } = assistant;
  const wanted = authorised.principal.embed?.model ?? body.model;
  const chosen = await chooseModel(authorised, wanted, document);
  if (!chosen.ok) return chosen;
  const untaken = await refuseForModel(authorised, { files, bodyBytes }, chosen.value);
  if (untaken) return fail(untaken);
  const summarising = await findSummaryModel(authorised, document);
  if (!summarising.ok) return summarising;
  const [model, ...fallbacks] = chosen.value;
  const summary = summarising.value;
  return ok({
    model: model.id,
    ...(isTenantModel(model.id) && { ownModel: model, ownFallbacks: fallbacks }),
    ...(summary && isTenantModel(summary.id) && { ownSummaryModel: summary }),
    instructions: document.instructions,
  });
}
