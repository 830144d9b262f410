import type { Assistant } from "../../capabilities/assistant.ts";
import { specsOf } from "../../contracts/catalog/registered.ts";
import { listOffered } from "../../contracts/catalog/tool-catalog.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { narrowRun } from "../../protocol/policy/narrow-run.ts";
import { policyOfRun } from "../../protocol/policy/narrow.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { chooseAssistant } from "./choose-assistant.ts";

/** The policy of a run, with the tools that the run may call. */
export interface AllowedTools {
  readonly policy: ToolPolicy;
  readonly tools: ReadonlyMap<string, ToolSpec>;
  /** The assistant that narrows them: the given one, or else that of a page. */
  readonly assistant?: Assistant | undefined;
}

/**
 * Reads which tools a run may call: those of the policy, and of these those that the embed token
 * binds and the assistant uses. Without a given assistant, that of a page counts. Fails: the
 * response to send.
 */
export async function readAllowed(
  authorised: AuthorisedRequest,
  given?: Assistant,
): Promise<Result<AllowedTools, Response>> {
  const { principal, services, contracts } = authorised;
  const { embed, tenantId } = principal;
  const { policy } = await services.policies.load(tenantId);
  const found = embed && !given ? await chooseAssistant(authorised, undefined) : ok(given);
  if (!found.ok) return found;
  const assistant = found.value;
  const reach = narrowRun({ embed, assistant: assistant?.document });
  const narrowed = policyOfRun(policy, reach);
  const nowMs = services.clock.nowMs();
  // The gates of the run know its models.
  const caller = { ...principal, assistantId: assistant?.pin.id, models: [] };
  const tools = listOffered(specsOf(await contracts()), narrowed, { nowMs, caller });
  return ok({ policy: narrowed, tools, assistant });
}
