import type { Principal } from "../identity/principal.ts";
import { isDelegate } from "../identity/principal.ts";
import { entryOf } from "./decide.ts";
import type { ToolPolicy } from "./document.ts";

/** Who acts, and on whose account. */
type Acting = Pick<Principal, "actorId" | "subjectId">;

/** Lists the scopes that a call of a tool needs: those of its contract and those of the policy. */
export function scopesFor(
  policy: Pick<ToolPolicy, "allowedTools">,
  { id, requiredScopes }: { readonly id: string; readonly requiredScopes: readonly string[] },
): readonly string[] {
  return [...requiredScopes, ...(entryOf(policy, id)?.scopes ?? [])];
}

/**
 * Tells whether an actor may use a tool on this account. Acting for oneself needs no delegation.
 * Acting for somebody else needs one that names actor, subject and tool.
 */
export function isDelegated(
  { delegations }: Pick<ToolPolicy, "delegations">,
  acting: Acting,
  toolId: string,
): boolean {
  return (
    !isDelegate(acting) ||
    delegations.some(
      ({ actorId, subjectId, tools }) =>
        actorId === acting.actorId && subjectId === acting.subjectId && tools.includes(toolId),
    )
  );
}
