import type { AuditEntry } from "../../protocol/audit/entry.ts";
import { actorsOf } from "../../protocol/identity/principal.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";

/**
 * Answers 204 after the audit log holds a change. A repeated request changes and records it again.
 */
export async function recordChange(
  { principal, services }: AuthorisedRequest,
  fact: Pick<AuditEntry, "action" | "connectionId" | "providerId">,
): Promise<Response> {
  const at = toIso(services.clock.nowMs());
  try {
    await services.trail.record(principal.tenantId, { ...fact, at, ...actorsOf(principal) });
  } catch {
    const detail = "The change was made but is not recorded yet. Send the request again.";
    return problem("audit_unavailable", { detail, headers: { "retry-after": "1" } });
  }
  return new Response(null, { status: 204 });
}
