import * as v from "valibot";
import { specsOf } from "../../contracts/catalog/registered.ts";
import { listOffered } from "../../contracts/catalog/tool-catalog.ts";
import { actorId } from "../../protocol/identity/api-token.ts";
import type { ActorId } from "../../protocol/identity/ids.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { actsInOwnName } from "../../protocol/approval/check-vote.ts";
import { EMBED_SCOPES, embedFields, embedRoles } from "../../protocol/identity/embed-grant.ts";
import { actorsOf, type Principal } from "../../protocol/identity/principal.ts";
import { narrowPolicy } from "../../protocol/policy/narrow.ts";
import { chooseAssistant } from "../claim/choose-assistant.ts";
import { chooseModel } from "../claim/choose-model.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";
import { whyUnusable } from "./unusable-token.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { toIso } from "../../protocol/text/iso-time.ts";

/** Mints embed tokens. An embed token cannot mint further ones. */
export const EMBED_TOKEN_ROUTES: Routes = {
  "/v1/embed-tokens": {
    POST: { scope: "embed:mint", refusesEmbedTokens: true, handle: postEmbedToken },
  },
};

const DEFAULT_TTL_SECONDS = 900;
const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 3_600;

export const embedTokenBody = v.strictObject({
  ...embedFields,
  /** Only people use pages. An agent or a service has its own server and token. */
  actorId: v.pipe(v.string(), v.regex(/^user:/, "the id of a person: user:…"), actorId),
  scopes: v.optional(v.pipe(v.array(v.picklist(EMBED_SCOPES)), v.minLength(1), v.maxLength(8)), [
    "chat",
    "runs:read",
  ]),
  ttlSeconds: v.optional(
    v.pipe(v.number(), v.safeInteger(), v.minValue(MIN_TTL_SECONDS), v.maxValue(MAX_TTL_SECONDS)),
    DEFAULT_TTL_SECONDS,
  ),
  /** Roles that the person has. */
  roles: embedRoles,
});

/**
 * `POST /v1/embed-tokens`: mints a short-lived token for one page and one person. The token allows
 * nothing that the token of its minter does not allow, and has the roles that the minter may give.
 */
async function postEmbedToken(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const body = await readJson(request, embedTokenBody);
  if (!body.ok) return body.failure;
  const { scopes, roles, toolIds, origin, actorId: holder } = body.value;
  const lacking = scopes.find((scope) => !principal.scopes.includes(scope));
  if (lacking) {
    const detail = `The caller lacks the scope ${lacking}. Leave it out, or use a token that has it.`;
    return problem("insufficient_scope", { detail });
  }
  const { tenantId, actorId: minterId } = principal;
  const { policy } = await services.policies.load(tenantId);
  const refusal = whyNotMint(principal, { holder, roles }, policy.embedMinters);
  if (refusal !== undefined) return problem("minting_not_allowed", { detail: refusal });
  if (!policy.origins.includes(origin)) {
    return problem("origin_not_allowed", {
      detail: "The policy does not list this origin. Add it to the policy's origins.",
    });
  }
  const found = await chooseAssistant(authorised, body.value.assistantId);
  if (!found.ok) return found.failure;
  const { pin, document } = found.value;
  const { model } = body.value;
  const chosen = model === undefined ? undefined : await chooseModel(authorised, model, document);
  if (chosen?.ok === false) return chosen.failure;
  const nowMs = services.clock.nowMs();
  const offered = narrowPolicy(policy, document.toolIds);
  const tools = listOffered(specsOf(await authorised.contracts()), offered, { nowMs });
  const errors = toolIds.flatMap((toolId, index) =>
    tools.has(toolId)
      ? []
      : [{ pointer: `/toolIds/${index}`, message: "is not offered by policy and assistant" }],
  );
  if (errors.length > 0) return problem("tool_not_available", { errors });
  const order = { ...body.value, assistantId: pin.id, tenantId, minterId };
  const { token, expiresAtMs } = await services.embedTokens.mint(order);
  const unusable = whyUnusable({ order, token, tools }, policy);
  if (unusable.length > 0) return problem("embed_token_unusable", { errors: unusable });
  const expiresAt = toIso(expiresAtMs);
  const { connectionIds, workspaceId } = body.value;
  const bound = {
    ...(connectionIds && { connectionIds }),
    ...(model !== undefined && { model }),
    ...(workspaceId !== undefined && { workspaceId }),
    ...(roles.length > 0 && { roles }),
  };
  const result = { holder, origin, toolIds, scopes, expiresAt, assistantId: pin.id, ...bound };
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
 * Tells why the caller may not mint a token for a person; undefined when the caller may. People
 * mint for themselves, with roles that they have. A service mints for the people that the policy
 * names for it, with the roles of the same entry.
 * Threat: with the token of a colleague, the caller reads their runs, starts runs in their name and
 * approves those runs. With the token of a person, an agent acts without a delegation.
 */
function whyNotMint(
  minter: Principal,
  { holder, roles }: { readonly holder: ActorId; readonly roles: readonly string[] },
  minters: ToolPolicy["embedMinters"],
): string | undefined {
  if (minter.actorId === holder && actsInOwnName(minter)) {
    const lacking = roles.find((role) => !minter.roles.includes(role));
    return lacking && `The caller has no role ${lacking}. Leave it out.`;
  }
  const isService = minter.actorId.startsWith("service:") && minter.subjectId === undefined;
  if (!isService)
    return "People mint embed tokens for themselves only. For others, use a token of a service.";
  const entries = minters.filter(({ actorId }) => actorId === minter.actorId);
  const fitting = entries.filter(({ people }) => people?.includes(holder) ?? true);
  if (fitting.length === 0)
    return "The policy does not let this service mint for this person. Add it to embedMinters.";
  const given = new Set(fitting.flatMap((entry) => entry.roles));
  const refused = roles.find((role) => !given.has(role));
  return (
    refused &&
    `The policy does not let this service give the role ${refused}. Add it to the roles of its entry in embedMinters.`
  );
}
