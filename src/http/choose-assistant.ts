import type { Assistant } from "../capabilities/assistant.ts";
import { DEFAULT_ASSISTANT_ID } from "../protocol/assistant/document.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { AuthorisedRequest } from "./authorise.ts";
import { problem } from "./problem.ts";

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
