import * as v from "valibot";
import { createToolCatalog } from "../contracts/tool-catalog.ts";
import { actorId } from "../protocol/identity/api-token.ts";
import { actsInOwnName } from "../protocol/approval/check-vote.ts";
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
  /** Only people use pages. An agent or a service has its own server and token. */
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
 * `POST /v1/embed-tokens`: mints a short-lived token for one page and one person. The token allows
 * nothing that the token of its maker does not allow, and has no roles.
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
    return problem("origin_not_allowed", {
      detail: "The policy does not list this origin. Add it to the policy's origins.",
    });
  }
  const nowMs = services.clock.nowMs();
  const { tools } = createToolCatalog(services.toolSpecs, policy, { nowMs });
  const errors = toolIds.flatMap((toolId, index) =>
    tools.has(toolId)
      ? []
      : [{ pointer: `/toolIds/${index}`, message: "is not offered by the policy" }],
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
    const detail = "No token was issued. Send the request again.";
    return problem("audit_unavailable", { detail, headers: { "retry-after": "1" } });
  }
  return Response.json({ token, expiresAt }, { headers: { "cache-control": "no-store" } });
}

/**
 * Tells why the caller may not mint the token; undefined when the caller may. A service knows who
 * uses the page. A person may mint a token for a page of their own.
 * Threat: through a page that nobody sees, an agent acts as a person without a delegation, or
 * somebody decides in the name of another person.
 */
function whyNotMint(
  maker: Principal,
  order: v.InferOutput<typeof embedTokenBody>,
): string | undefined {
  const { actorId: holder, scopes } = order;
  const lacking = scopes.find((scope) => !maker.scopes.includes(scope));
  if (lacking)
    return `The caller lacks the scope ${lacking}. Leave it out, or use a token that has it.`;
  const isService = maker.actorId.startsWith("service:") && maker.subjectId === undefined;
  if (isService) return undefined;
  if (!actsInOwnName(maker))
    return "Agents and callers with a subject cannot mint embed tokens. Use a token of a service.";
  const decidesForOthers = scopes.includes("approvals:decide") && maker.actorId !== holder;
  return decidesForOthers
    ? "Only a service may mint approvals:decide for another person. Leave that scope out."
    : undefined;
}
