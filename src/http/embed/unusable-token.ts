import type { EmbedTokenOrder } from "../../capabilities/identity.ts";
import { MAX_JWT_CHARS } from "../../protocol/identity/embed-grant.ts";
import { mayCall } from "../../protocol/policy/callers.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { isMember, soleWorkspace } from "../../protocol/policy/membership.ts";
import { scopesFor } from "../../protocol/policy/permission.ts";
import type { ToolSpec } from "../../protocol/tool/spec.ts";

interface FieldError {
  readonly pointer: string;
  readonly message: string;
}

interface Minted {
  readonly order: EmbedTokenOrder;
  readonly token: string;
  /** The tools that policy and assistant offer; all of the order are among them. */
  readonly tools: ReadonlyMap<string, ToolSpec>;
}

/**
 * Tells why no run could ever use a new token, by the current policy: its workspace is one of
 * others, none of its tools may be called, or it is too long to be read. Empty when one could.
 */
export function whyUnusable(
  { order, token, tools }: Minted,
  policy: ToolPolicy,
): readonly FieldError[] {
  if (token.length > MAX_JWT_CHARS) {
    const message = `makes a token of more than ${MAX_JWT_CHARS} characters; name fewer`;
    return [{ pointer: "/toolIds", message }];
  }
  const { actorId, roles, scopes, workspaceId, toolIds, assistantId } = order;
  const person = { actorId, roles };
  if (workspaceId !== undefined && !isMember(policy, workspaceId, person)) {
    const message = "the person is no member of it, by id or by a role of the token";
    return [{ pointer: "/workspaceId", message }];
  }
  const hasWorkspace = (workspaceId ?? soleWorkspace(policy, person)) !== undefined;
  const errors = toolIds.map((toolId, index): FieldError | undefined => {
    const spec = tools.get(toolId);
    const needed = scopesFor(policy, { requiredScopes: [], ...spec, id: toolId });
    const lacking = needed.find((scope) => !scopes.includes(scope));
    const pointer = `/toolIds/${index}`;
    const caller = { actorId, roles, assistantId, models: [] };
    if (spec && !mayCall(policy, { ...spec, id: toolId }, caller)) {
      return { pointer, message: "the policy does not let this person use it on this page" };
    }
    if (lacking !== undefined) return { pointer, message: `needs the scope ${lacking}` };
    if (spec?.workspace === undefined || hasWorkspace) return undefined;
    const message = "uses a workspace, and the person is a member of none, or of several";
    return { pointer, message };
  });
  const told = errors.filter((error) => error !== undefined);
  return scopes.includes("chat") && told.length === toolIds.length ? told : [];
}
