import * as v from "valibot";
import type { RunId } from "../../protocol/identity/ids.ts";
import { actorId } from "../../protocol/identity/api-token.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { PersonErasure } from "../../protocol/person/erasure.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import type { AskedPerson } from "./asked-person.ts";
import { exportPage } from "./person-export.ts";

/** Exports and erases what is kept of one person. */
export const PEOPLE_ROUTES: Routes = {
  "/v1/people/:id/export": {
    GET: { scope: "people:export", refusesEmbedTokens: true, handle: getExport },
  },
  "/v1/people/:id/erasure": {
    GET: { scope: "people:erase", refusesEmbedTokens: true, handle: getErasure },
    POST: { scope: "people:erase", refusesEmbedTokens: true, handle: postErasure },
  },
};

async function readPerson({
  id,
  principal,
  services,
}: AuthorisedRequest): Promise<Result<AskedPerson, Response>> {
  const parsed = v.safeParse(actorId, id);
  if (!parsed.success) {
    return fail(problem("invalid_request", { detail: "The address names no person." }));
  }
  const personId = parsed.output;
  const { tenantId } = principal;
  // No run: the hash is one of the tenant.
  const hash = await services.fingerprints.of({ tenantId, runId: "" as RunId }, personId);
  const { policy } = await services.policies.load(tenantId);
  const workspaces = services.workspaces.names.flatMap((name) =>
    Object.keys(policy.workspaces).map((workspaceId) => ({ name, tenantId, workspaceId })),
  );
  return ok({ personId, hash, workspaces });
}

/** `GET /v1/people/:id/export`: what is kept of a person, page by page. */
async function getExport(authorised: AuthorisedRequest): Promise<Response> {
  const person = await readPerson(authorised);
  return person.ok ? exportPage(authorised, person.value) : person.failure;
}

/** `POST /v1/people/:id/erasure`: begins to erase a person, or goes on. */
async function postErasure(authorised: AuthorisedRequest): Promise<Response> {
  const person = await readPerson(authorised);
  if (!person.ok) return person.failure;
  const { tenantId, actorId: by } = authorised.principal;
  const { hash: erasureId, ...whom } = person.value;
  return show(await authorised.services.erasures.begin({ tenantId, by, erasureId, ...whom }), 202);
}

/** `GET /v1/people/:id/erasure`: how far it has come. */
async function getErasure(authorised: AuthorisedRequest): Promise<Response> {
  const person = await readPerson(authorised);
  if (!person.ok) return person.failure;
  const { principal, services } = authorised;
  const found = await services.erasures.read(principal.tenantId, person.value.hash);
  return found ? show(found, 200) : problem("erasure_not_found");
}

/** What no erasure deletes; docs/conversations.md says why. */
const KEPT = ["audit", "keys"];

function show(erasure: PersonErasure, status: number): Response {
  return Response.json({ ...erasure, kept: KEPT }, { status });
}
