import type { Assistant } from "../../capabilities/assistant.ts";
import { DEFAULT_ASSISTANT_ID } from "../../protocol/assistant/id.ts";
import { boundAssistant } from "../../protocol/identity/embed-grant.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";

/**
 * Finds the assistant of a request: the one that it names, or else that of the embed token, or else
 * the default. An assistant of another tenant gets the same answer as an unknown one. Fails: the
 * response to send.
 * Threat: a page uses another assistant than the one that its token was minted for.
 */
export async function chooseAssistant(
  { principal, services }: AuthorisedRequest,
  named: string | undefined,
): Promise<Result<Assistant, Response>> {
  const bound = boundAssistant(principal.embed);
  const asked = named ?? bound ?? DEFAULT_ASSISTANT_ID;
  if (bound !== undefined && asked !== bound) return fail(problem("assistant_not_found"));
  try {
    const found = await services.assistants.find(principal.tenantId, asked);
    return found ? ok(found) : fail(problem("assistant_not_found"));
  } catch {
    return fail(problem("assistant_unavailable", { headers: { "retry-after": "1" } }));
  }
}
