import { specsOf } from "../../contracts/catalog/registered.ts";
import { findWeakApprovals, matchPolicy } from "../../contracts/policy/match-policy.ts";
import { warnAbout, warnAboutRoles } from "../../contracts/policy/warn-policy.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import { actorsOf } from "../../protocol/identity/principal.ts";
import { toolPolicyDocument, type ToolPolicy } from "../../protocol/policy/document.ts";
import { readPrecondition, toETag } from "../request/precondition.ts";
import { problem } from "../request/problem.ts";
import { readJson } from "../request/read-json.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import type { Services } from "../services.ts";

/** Reads and replaces the policy of a tenant. */
export const POLICY_ROUTES: Routes = {
  "/v1/policy": {
    GET: { scope: "policy:read", handle: getPolicy },
    PUT: { scope: "policy:write", handle: putPolicy },
  },
};

/** Mismatches that one response names. */
const MAX_ERRORS = 20;

/** `GET /v1/policy`: the current policy, read past the isolate's cache. */
async function getPolicy(authorised: AuthorisedRequest): Promise<Response> {
  const { principal, services } = authorised;
  const pin = await services.registry.current(principal.tenantId);
  if (!pin) return problem("policy_missing");
  services.policies.learn(principal.tenantId, pin);
  const loaded = await services.policies.read(principal.tenantId, pin);
  const headers = { etag: toETag(pin.revision) };
  if (!loaded.pin) {
    const detail = `The policy is ${loaded.deniedBecause} and denies everything. Store a new one.`;
    return problem("policy_unavailable", { detail, revision: pin.revision, headers });
  }
  const { revision, hash } = pin;
  const { policy } = loaded;
  return Response.json(
    { revision, hash, policy, ...(await warningsOf(authorised, policy)) },
    { headers },
  );
}

/** `PUT /v1/policy`: replaces the policy of the caller's tenant if it has the expected revision. */
export async function putPolicy(authorised: AuthorisedRequest): Promise<Response> {
  const { request, principal, services } = authorised;
  const expected = readPrecondition(request.headers);
  if (!expected.ok) return expected.failure;
  const body = await readJson(request, toolPolicyDocument);
  if (!body.ok) return body.failure;
  const specs = specsOf(await authorised.contracts());
  const errors = matchPolicy(body.value, specs).slice(0, MAX_ERRORS);
  if (errors.length > 0) return problem("invalid_request", { errors });
  const weak = findWeakApprovals(body.value, specs).slice(0, MAX_ERRORS);
  if (weak.length > 0) return problem("approval_too_weak", { errors: weak });
  const before = await readBefore(principal.tenantId, services);
  const change = await services.registry.change(principal.tenantId, body.value, {
    expectedRevision: expected.value,
    by: actorsOf(principal),
  });
  switch (change.kind) {
    case "changed": {
      services.policies.learn(principal.tenantId, change.pin);
      const { revision, hash } = change.pin;
      const ids = before ? changedWorkspaces(before, body.value) : [];
      await services.membersChanged?.(principal.tenantId, ids);
      const answer = { revision, hash, ...(await warningsOf(authorised, body.value)) };
      return Response.json(answer, { headers: { etag: toETag(revision) } });
    }
    case "conflict":
      return problem("precondition_failed", describeCurrent(change.pin));
    case "unavailable": {
      const detail = "The policy could not be stored and nothing changed. Send the request again.";
      return problem("policy_unavailable", { detail, headers: { "retry-after": "1" } });
    }
  }
}

/** Reads the policy that a change replaces, if its workspaces matter to anybody. */
async function readBefore(
  tenantId: TenantId,
  { membersChanged, registry, policies }: Services,
): Promise<ToolPolicy | undefined> {
  const pin = membersChanged && (await registry.current(tenantId));
  return pin && (await policies.read(tenantId, pin)).policy;
}

/** Lists the workspaces that lost a member, or may have. */
function changedWorkspaces(before: ToolPolicy, after: ToolPolicy): readonly string[] {
  return Object.entries(before.workspaces).flatMap(([id, { actors, roles }]) => {
    const now = Object.hasOwn(after.workspaces, id) ? after.workspaces[id] : undefined;
    const isKept =
      actors.every((actor) => now?.actors.includes(actor)) &&
      roles.every((role) => now?.roles.includes(role));
    return isKept ? [] : [id];
  });
}

/** Tells what of a policy can never apply. A stored policy may hold rules that are too weak. */
async function warningsOf(
  { principal, services, contracts }: AuthorisedRequest,
  policy: ToolPolicy,
) {
  const known = await contracts();
  const warnings = [
    ...findWeakApprovals(policy, specsOf(known)),
    ...warnAbout(policy, known),
    ...warnAboutRoles(policy, services.rolesOf(principal.tenantId)),
  ];
  return warnings.length > 0 ? { warnings: warnings.slice(0, MAX_ERRORS) } : {};
}

function describeCurrent(pin: PolicyPin | undefined): Parameters<typeof problem>[1] {
  if (!pin) return { detail: "There is no policy yet. Send If-None-Match: *" };
  const { revision } = pin;
  return { revision, headers: { etag: toETag(revision) } };
}
