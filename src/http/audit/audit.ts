import * as v from "valibot";
import type { AuditPage, AuditQuery } from "../../capabilities/audit.ts";
import { auditLine, type AuditRecord } from "../../protocol/audit/chain.ts";
import { AUDIT_ACTIONS } from "../../protocol/audit/entry.ts";
import { toPromptHistory, type PromptHistoryEntry } from "../../protocol/audit/prompt-history.ts";
import { type RegisteredContract, versionKey } from "../../contracts/catalog/registered.ts";
import { exportLines } from "./audit-export.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";
import { problem } from "../request/problem.ts";
import type { AuthorisedRequest, Routes } from "../request/authorise.ts";

/** Reads the audit log. */
export const AUDIT_ROUTES: Routes = {
  "/v1/audit": { GET: { scope: "audit:read", handle: getAudit } },
};

export const query = v.strictObject({
  action: v.optional(v.picklist(AUDIT_ACTIONS)),
  run: parameters.text,
  from: parameters.instant,
  to: parameters.instant,
  view: v.optional(v.picklist(["prompt_history"])),
  format: v.optional(v.picklist(["json", "jsonl"]), "json"),
  limit: parameters.limit,
  cursor: parameters.cursor,
});
type AuditParameters = v.InferOutput<typeof query>;
type Filters = Omit<AuditQuery, "limit" | "after">;

/** `GET /v1/audit`: the audit records of the tenant, oldest first; one page, or all as lines. */
async function getAudit(authorised: AuthorisedRequest): Promise<Response> {
  const read = readQuery(authorised.request, query);
  if (!read.ok) return read.failure;
  const { view, action } = read.value;
  if (view !== undefined && action !== undefined && action !== "call.ended") {
    return problem("query_invalid", {
      detail: "The view prompt_history holds only call.ended. Leave out the parameter action.",
    });
  }
  return read.value.format === "jsonl"
    ? exportAudit(authorised, read.value)
    : pageAudit(authorised, read.value);
}

async function pageAudit(
  authorised: AuthorisedRequest,
  parameters: AuditParameters,
): Promise<Response> {
  const { principal, services } = authorised;
  const { view, limit, cursor } = parameters;
  const filters = filtersOf(parameters);
  const { action = null, runId = null, fromMs = null, toMs = null } = filters;
  const scope = ["audit", principal.tenantId, view ?? null, action, runId, fromMs, toMs];
  const after = await readCursor<number>(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const auditQuery = { ...filters, limit, after: after.value ?? 0 };
  const page = await services.trail.read(principal.tenantId, auditQuery);
  const body =
    view === undefined
      ? {
          ...(page.removed && { removed: page.removed }),
          records: page.items,
          ...(page.checkpoint && { checkpoint: page.checkpoint }),
        }
      : { history: page.items.map(historyOf(await authorised.contracts())) };
  const next = await nextCursor(authorised, page, scope);
  return Response.json({ ...body, ...next }, { headers: { "x-audit-head": page.head.hash } });
}

async function exportAudit(
  authorised: AuthorisedRequest,
  parameters: AuditParameters,
): Promise<Response> {
  const { principal, services, request } = authorised;
  const named = new URL(request.url).searchParams;
  if (named.has("limit") || named.has("cursor")) {
    return problem("query_invalid", {
      detail: "An export has no pages. Leave out the parameters limit and cursor.",
    });
  }
  const filters = filtersOf(parameters);
  const read = (after: number, limit: number): Promise<AuditPage> =>
    services.trail.read(principal.tenantId, { ...filters, after, limit });
  const isWhole = Object.keys(filters).length === 0;
  const format = await formatOf(authorised, parameters);
  const { head, body } = await exportLines(read, format, { isWhole });
  return new Response(body, {
    headers: {
      "content-type": "application/jsonl",
      "x-audit-head": head.hash,
      "x-audit-key": await services.auditSigner.publicKey(),
    },
  });
}

/** Chooses the line of a record. */
async function formatOf(
  { contracts }: AuthorisedRequest,
  { view }: AuditParameters,
): Promise<(record: AuditRecord) => string> {
  if (view === undefined) return auditLine;
  const toHistory = historyOf(await contracts());
  return (record) => `${JSON.stringify(toHistory(record))}\n`;
}

/** Turns records into entries of a prompt history, with what the deployment knows of each tool. */
function historyOf(
  contracts: readonly RegisteredContract[],
): (record: AuditRecord) => PromptHistoryEntry {
  const specs = new Map(contracts.map(({ spec }) => [versionKey(spec.name, spec.version), spec]));
  return ({ entry }) => {
    const { toolId = "", toolVersion = "" } = entry;
    return toPromptHistory(entry, specs.get(versionKey(toolId, toolVersion)));
  };
}

function filtersOf({ action, run: runId, from: fromMs, to: toMs, view }: AuditParameters): Filters {
  return {
    ...(action && { action }),
    ...(view && { action: "call.ended" }),
    ...(runId !== undefined && { runId }),
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
  };
}
