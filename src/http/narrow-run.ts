import type { AssistantDocument, AssistantSettings } from "../protocol/assistant/document.ts";
import type { Principal } from "../protocol/identity/principal.ts";
import type { AnswerSettings } from "../protocol/model/answer-settings.ts";
import type { RunLimits } from "../protocol/policy/limits.ts";
import type { ChatRequestBody } from "../protocol/run/chat-request.ts";
import type { RunClaim } from "../protocol/run/claim.ts";

type Narrowing = Pick<
  RunClaim,
  "toolIds" | "budgets" | "connectionIds" | "workspaceId" | "settings"
>;

/**
 * Reads what the assistant and an embed token allow a run. The request may narrow its tools
 * and connections further. Contract: pure; the caller has checked both.
 */
export function narrowRun(
  { toolIds: requested, connectionIds: named, workspaceId: wanted }: ChatRequestBody,
  { embed }: Principal,
  { toolIds: own, settings }: AssistantDocument,
): Narrowing {
  const connectionIds = named ?? embed?.connectionIds;
  const workspaceId = wanted ?? embed?.workspaceId;
  const given = embed?.toolIds ?? own;
  const toolIds = requested ?? given?.filter((id) => own?.includes(id) ?? true);
  return {
    ...(toolIds && { toolIds }),
    ...lowerAnswers(embed?.budgets, settings),
    ...(connectionIds && { connectionIds }),
    ...(workspaceId !== undefined && { workspaceId }),
    settings: toAnswerSettings(settings),
  };
}

/** The longest answer is a limit like those of the policy, so that budgets count on it. */
function lowerAnswers(
  budgets: RunLimits | undefined,
  { maxOutputTokens }: AssistantSettings,
): Pick<RunClaim, "budgets"> {
  if (maxOutputTokens === undefined) return budgets ? { budgets } : {};
  const lowest = Math.min(maxOutputTokens, budgets?.maxOutputTokens ?? Infinity);
  return { budgets: { ...budgets, maxOutputTokens: lowest } };
}

function toAnswerSettings({ effort, temperature, toolChoice }: AssistantSettings): AnswerSettings {
  return {
    ...(effort !== undefined && { effort }),
    ...(temperature !== undefined && { temperature }),
    ...(toolChoice !== undefined && { toolChoice }),
  };
}
