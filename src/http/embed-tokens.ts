import * as v from "valibot";
import { createToolCatalog } from "../contracts/tool-catalog.ts";
import { actorId } from "../protocol/identity/api-token.ts";
import { actsInOwnName } from "../protocol/approval/vote.ts";
import { EMBED_SCOPES, embedFields } from "../protocol/identity/embed-grant.ts";
import { actorsOf, type Principal } from "../protocol/identity/principal.ts";
import { problem } from "./problem.ts";
import { readJson } from "./read-json.ts";
import type { AuthorisedRequest, Routes } from "./authorise.ts";
import { toIso } from "../protocol/text/iso-time.ts";

/** Mints embed tokens. An embed token cannot mint further ones. */
export const EMBED_TOKEN_ROUTES: Routes = {
  "/v1/embed-tokens": {
    POST: { scope: "embed:mint", refusesEmbedTokens: true, handle: postEmbedToken },
  },
};

const DEFAULT_TTL_SECONDS = 900;
const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 3_600;

const embedTokenBody = v.strictObject({
  ...embedFields,
  /** Pages act for people; an agent or a service has a server of its own. */
  actorId: v.pipe(v.string(), v.startsWith("user:"), actorId),
  scopes: v.optional(v.pipe(v.array(v.picklist(EMBED_SCOPES)), v.minLength(1), v.maxLength(8)), [
    "chat",
    "runs:read",
  ]),
  ttlSeconds: v.optional(
    v.pipe(v.number(), v.safeInteger(), v.minValue(MIN_TTL_SECONDS), v.maxValue(MAX_TTL_SECONDS)),
    DEFAULT_TTL_SECONDS,
  ),
});

/**
 * `POST /v1/embed-tokens`: makes a short-lived token for one page of one person. It can do nothing that its
 * maker could not, and has no roles.
 */
async function postEmbedToken(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const body = await readJson(request, embedTokenBody);
  if (!body.ok) return body.failure;
  const { scopes, toolIds, origin } = body.value;
  const detail = whyNotMint(principal, body.value);
  if (detail !== undefined) return problem("insufficient_scope", { detail });
  const { policy } = await services.policies.load(principal.tenantId);
  if (!policy.origins.includes(origin)) {
    return problem("origin_not_allowed", { detail: "The policy's origins do not hold it." });
  }
  const nowMs = services.clock.nowMs();
  const { tools } = createToolCatalog(services.toolSpecs, policy, { nowMs });
  const errors = toolIds.flatMap((toolId, index) =>
    tools.has(toolId) ? [] : [{ pointer: `/toolIds/${index}`, message: "not available" }],
  );
  if (errors.length > 0) return problem("tool_not_available", { errors });
  const { tenantId } = principal;
  const { token, expiresAtMs } = await services.embedTokens.mint({ ...body.value, tenantId });
  const expiresAt = toIso(expiresAtMs);
  const { actorId: holder } = body.value;
  const result = { holder, origin, toolIds, scopes, expiresAt };
  const at = toIso(nowMs);
  try {
    const entry = { action: "embed_token.minted", at, ...actorsOf(principal), result } as const;
    await services.trail.record(tenantId, entry);
  } catch {
    const detail = "No token was handed out: ask again.";
    return problem("audit_unavailable", { detail, headers: { "retry-after": "1" } });
  }
  return Response.json({ token, expiresAt }, { headers: { "cache-control": "no-store" } });
}

/**
 * Tells why somebody may not make such a token. A server knows who is at the page, and a person may open one
 * for themself.
 * Threat: an agent acts as a person without the delegation that it needs, or anybody decides in another
 * person's name, by a page that nobody sees.
 */
function whyNotMint(
  maker: Principal,
  order: v.InferOutput<typeof embedTokenBody>,
): string | undefined {
  const { actorId: holder, scopes } = order;
  const lacking = scopes.find((scope) => !maker.scopes.includes(scope));
  if (lacking) return `A token cannot hand on ${lacking}.`;
  const isServer = maker.actorId.startsWith("service:") && maker.subjectId === undefined;
  if (isServer) return undefined;
  if (!actsInOwnName(maker)) return "Agents, and whoever acts for somebody, make no tokens.";
  const decidesForOthers = scopes.includes("approvals:decide") && maker.actorId !== holder;
  return decidesForOthers ? "Only a service may let another person decide." : undefined;
}
