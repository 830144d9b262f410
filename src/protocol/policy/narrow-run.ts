import type { AssistantDocument, AssistantSettings } from "../assistant/document.ts";
import type { EmbedGrant } from "../identity/embed-grant.ts";
import type { AnswerSettings } from "../model/answer-settings.ts";
import type { ChatRequestBody } from "../run/chat-request.ts";
import type { RunClaim } from "../run/claim.ts";
import type { RunLimits } from "./limits.ts";

/** Who narrows a run. Each narrows what the others leave; nobody widens it. */
export interface Narrowing {
  /** The request. */
  readonly named?: Pick<ChatRequestBody, "toolIds" | "connectionIds" | "workspaceId">;
  /** The token of a page. */
  readonly embed?: EmbedGrant | undefined;
  readonly assistant?: Pick<AssistantDocument, "toolIds" | "settings"> | undefined;
}

/** How far a run reaches, as its claim says it. */
type RunReach = Pick<
  RunClaim,
  "toolIds" | "budgets" | "connectionIds" | "workspaceId" | "settings"
>;

/**
 * Narrows a run by its request, the token of its page and its assistant; `policyOfRun` then
 * narrows the policy by the answer. Contract: pure. The caller has checked that the request may
 * name these connections and this workspace.
 */
export function narrowRun({ named = {}, embed, assistant }: Narrowing): RunReach {
  const connectionIds = named.connectionIds ?? embed?.connectionIds;
  const workspaceId = named.workspaceId ?? embed?.workspaceId;
  const toolIds = meet([named.toolIds, embed?.toolIds, assistant?.toolIds]);
  return {
    ...(toolIds && { toolIds }),
    ...lowerAnswers(embed?.budgets, assistant?.settings),
    ...(connectionIds && { connectionIds }),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(assistant && { settings: toAnswerSettings(assistant.settings) }),
  };
}

/** Keeps what every list holds that is there; undefined when none is. */
function meet(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const [first, ...others] = lists.filter((list) => list !== undefined);
  return first?.filter((id) => others.every((list) => list.includes(id)));
}

/** The longest answer is a limit like those of the policy, so that budgets count on it. */
function lowerAnswers(
  budgets: RunLimits | undefined,
  { maxOutputTokens }: AssistantSettings = {},
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
