import type { AssistantPin } from "../protocol/assistant/pin.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { narrowPolicy } from "../protocol/policy/narrow.ts";
import type { AuthorisedRequest } from "./authorise.ts";
import { chooseAssistant } from "./choose-assistant.ts";

/** The policy of a caller, with the tools that the caller may call without a model. */
export interface AllowedTools {
  readonly policy: ToolPolicy;
  /** The assistant of a page. */
  readonly assistant?: AssistantPin;
}

/**
 * Reads which tools a caller may call: those of the policy, and of these for a page those that its
 * embed token binds and its assistant uses now. Fails: the response to send.
 */
export async function readAllowed(
  authorised: AuthorisedRequest,
): Promise<Result<AllowedTools, Response>> {
  const { principal, services } = authorised;
  const { embed, tenantId } = principal;
  const { policy } = await services.policies.load(tenantId);
  if (!embed) return ok({ policy });
  const page = await chooseAssistant(authorised, undefined);
  if (!page.ok) return fail(page.failure);
  const { document, pin } = page.value;
  const bound = narrowPolicy(narrowPolicy(policy, embed.toolIds), document.toolIds);
  return ok({ policy: bound, assistant: pin });
}
