import type { Principal } from "../../protocol/identity/principal.ts";
import type { ChatRequestBody } from "../../protocol/run/chat-request.ts";
import { problem } from "../request/problem.ts";

/**
 * A page cannot change what its embed token binds.
 * Threat: a script of the page names the stored credentials of another tool, a dearer
 * model, or a workspace that the page does not show.
 */
export function refuseUnbound(
  { connectionIds = [], model, workspaceId }: ChatRequestBody,
  { embed }: Principal,
): Response | undefined {
  const errors = connectionIds.flatMap((id, index) =>
    embed?.connectionIds?.includes(id) === false
      ? [{ pointer: `/connectionIds/${index}`, message: "is not bound to this embed token" }]
      : [],
  );
  if (errors.length > 0) return problem("connection_not_available", { errors });
  // Without a bound workspace, the runs of a page use the one of which the person is a member.
  if (embed && workspaceId !== undefined && workspaceId !== embed.workspaceId) {
    return problem("workspace_not_available");
  }
  if (model === undefined || model === (embed?.model ?? model)) return undefined;
  const detail = "The embed token binds another model. Leave the model out.";
  return problem("model_not_allowed", { detail });
}
