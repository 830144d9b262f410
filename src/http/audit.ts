import * as v from "valibot";
import type { AuditPage, AuditQuery } from "../capabilities/audit.ts";
import { auditLine, type AuditRecord } from "../protocol/audit/chain.ts";
import { AUDIT_ACTIONS } from "../protocol/audit/entry.ts";
import { toPromptHistory } from "../protocol/audit/prompt-history.ts";
import { exportLines } from "./audit-export.ts";
import { nextOf, parameters, readCursor, readQuery } from "./list-query.ts";
import { problem } from "./problem.ts";
import type { AuthorisedRequest, Routes } from "./authorise.ts";

/** Reads the audit log. */
export const AUDIT_ROUTES: Routes = {
  "/v1/audit": { GET: { scope: "audit:read", handle: getAudit } },
};

const query = v.strictObject({
  action: v.optional(v.picklist(AUDIT_ACTIONS)),
  run: parameters.text,
  from: parameters.instant,
  to: parameters.instant,
  view: v.optional(v.picklist(["prompt_history"])),
  format: v.optional(v.picklist(["json", "jsonl"]), "json"),
  limit: parameters.limit,
  cursor: parameters.cursor,
});
type Asked = v.InferOutput<typeof query>;
type Filters = Omit<AuditQuery, "limit" | "after">;

/** `GET /v1/audit`: what happened in the tenant, oldest first: a page of records, or all of them as lines. */
async function getAudit(authorised: AuthorisedRequest): Promise<Response> {
  const asked = readQuery(authorised.request, query);
  if (!asked.ok) return asked.failure;
  const { view, action } = asked.value;
  if (view !== undefined && action !== undefined && action !== "call.ended") {
    return problem("query_invalid", { detail: "A prompt history holds the ends of calls alone." });
  }
  return asked.value.format === "jsonl"
    ? exportAudit(authorised, asked.value)
    : pageAudit(authorised, asked.value);
}

async function pageAudit(authorised: AuthorisedRequest, asked: Asked): Promise<Response> {
  const { principal, services } = authorised;
  const { view, limit, cursor } = asked;
  const filters = filtersOf(asked);
  const { action = null, runId = null, fromMs = null, toMs = null } = filters;
  const scope = ["audit", principal.tenantId, view ?? null, action, runId, fromMs, toMs];
  const after = await readCursor<number>(authorised, cursor, scope);
  if (!after.ok) return after.failure;
  const asks = { ...filters, limit, after: after.value ?? 0 };
  const page = await services.trail.read(principal.tenantId, asks);
  const body =
    view === undefined
      ? { records: page.items }
      : { history: page.items.map(({ entry }) => toPromptHistory(entry)) };
  const next = await nextOf(authorised, page, scope);
  return Response.json({ ...body, ...next }, { headers: { "x-audit-head": page.head.hash } });
}

async function exportAudit(authorised: AuthorisedRequest, asked: Asked): Promise<Response> {
  const { principal, services, request } = authorised;
  const named = new URL(request.url).searchParams;
  if (named.has("limit") || named.has("cursor")) {
    return problem("query_invalid", { detail: "An export has no pages." });
  }
  const filters = filtersOf(asked);
  const read = (after: number, limit: number): Promise<AuditPage> =>
    services.trail.read(principal.tenantId, { ...filters, after, limit });
  const isWhole = Object.keys(filters).length === 0;
  const word = asked.view === undefined ? auditLine : formatHistory;
  const { head, body } = await exportLines(read, word, { isWhole });
  return new Response(body, {
    headers: { "content-type": "application/jsonl", "x-audit-head": head.hash },
  });
}

function formatHistory({ entry }: AuditRecord): string {
  return `${JSON.stringify(toPromptHistory(entry))}\n`;
}

function filtersOf({ action, run: runId, from: fromMs, to: toMs, view }: Asked): Filters {
  return {
    ...(action && { action }),
    ...(view && { action: "call.ended" }),
    ...(runId !== undefined && { runId }),
    ...(fromMs !== undefined && { fromMs }),
    ...(toMs !== undefined && { toMs }),
  };
}
