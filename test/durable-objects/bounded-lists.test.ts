import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { ApprovalQueue } from "../../durable-objects/tenant/records/approval-queue.ts";
import { EscalationList } from "../../durable-objects/tenant/records/escalation-list.ts";
import { OutcomeList } from "../../durable-objects/tenant/records/outcome-list.ts";
import { RunDirectory } from "../../durable-objects/tenant/records/run-directory.ts";
import type { CallFilters, ListPage, ListPosition } from "../../src/protocol/list/page.ts";
import type { EscalationDraft } from "../../durable-objects/tenant/records/escalation-list.ts";
import { countRows } from "../shared/counted-sql.ts";
import { approvalNotice, isoAt, runNotice, tenantOf } from "../shared/tenant-notices.ts";

const CALLS = 2_500;
const LIMIT = 5;
const OPERATOR = { person: "user:op" as never, roles: [], decides: true, seesAll: true };

type Filtered = CallFilters & { readonly after?: ListPosition | undefined };
type List = (filters: Filtered) => ListPage<object>;

/** Fills the lists of a tenant. The last call in each list is the only one of its kind. */
function fill(sql: SqlStorage): Readonly<Record<string, List>> {
  const nowMs = Date.now();
  const runs = new RunDirectory(sql);
  const approvals = new ApprovalQueue(sql);
  const outcomes = new OutcomeList(sql);
  const escalations = new EscalationList(sql);
  runs.createTable();
  approvals.createTable();
  for (let number = 1; number <= CALLS; number++) {
    const kind = number === CALLS ? "rare" : "often";
    const runId = `run_${number}` as never;
    const requestedBy = `user:${kind}` as never;
    const { notice: told } = runNotice(1, { runId, assistantId: kind });
    if (told.type === "run") runs.put(told.run, { seq: 1, atMs: number });
    const { notice: asked } = approvalNotice(number, {
      runId,
      requestedBy,
      requestedAt: isoAt(-number * 1_000),
      expiresAt: isoAt(3_600_000 + number * 1_000),
    });
    if (asked.type === "approval") approvals.put(asked.approval);
    const awaitsOutcomeUntil = isoAt(3_600_000 + number * 1_000);
    const call = { runId, invocationId: "inv_1", toolId: "lab__pay", requestedBy };
    outcomes.replace(runId, [{ ...call, awaitsOutcomeUntil } as never]);
    const draft = { ...call, reason: "verification_unknown" };
    escalations.open(draft as unknown as EscalationDraft, nowMs + number);
  }
  const asked = { viewer: OPERATOR, status: "pending", isMine: false, isDecidable: false } as const;
  return {
    "approvals by expiry": (filters) =>
      approvals.list({ ...asked, ...filters, sort: "expiry", limit: LIMIT }, nowMs),
    "approvals by age": (filters) =>
      approvals.list({ ...asked, ...filters, sort: "newest", limit: LIMIT }, nowMs),
    outcomes: (filters) => outcomes.list({ ...filters, limit: LIMIT }, nowMs),
    escalations: (filters) => escalations.list({ ...filters, limit: LIMIT }),
  };
}

test("a page for a person or an assistant looks at a bounded number of calls, and the next one goes on from there", async () => {
  await runInDurableObject(tenantOf("bounded"), (_object, { storage: { sql } }) => {
    const { counted, take } = countRows(sql);
    for (const [name, list] of Object.entries(fill(counted))) {
      const look = (filters: Filtered) => {
        take();
        const { items, next } = list(filters);
        return { shown: items.length, next, rows: take() };
      };
      // The first list by age creates its index.
      list({});
      expect([name, look({}).rows < 60]).toEqual([name, true]);
      for (const filter of [{ person: "user:rare" }, { assistant: "rare" }]) {
        const pages = [look(filter)];
        while (pages.at(-1)?.next) pages.push(look({ ...filter, after: pages.at(-1)?.next }));
        expect([name, pages.map(({ shown }) => shown)]).toEqual([name, [0, 0, 1]]);
        // A row of an index, one of the list and one of the runs for each.
        for (const { rows } of pages) expect(rows).toBeLessThan(3_100);
      }
      const often = look({ person: "user:often", assistant: "often" });
      expect([name, often.shown, often.rows < 60]).toEqual([name, LIMIT, true]);
    }
  });
});

test("a page of pending approvals does not look at those whose time is over", async () => {
  await runInDurableObject(tenantOf("over"), (_object, { storage: { sql } }) => {
    const { counted, take } = countRows(sql);
    const approvals = new ApprovalQueue(counted);
    new RunDirectory(counted).createTable();
    approvals.createTable();
    for (let number = 1; number <= 1_000; number++) {
      const { notice } = approvalNotice(number, { status: "approved", expiresAt: isoAt(-number) });
      if (notice.type === "approval") approvals.put(notice.approval);
    }
    take();
    const pending = { viewer: OPERATOR, status: "pending", isMine: false } as const;
    const query = { ...pending, isDecidable: false, sort: "expiry", limit: LIMIT } as const;
    expect(approvals.list(query, Date.now())).toEqual({ items: [] });
    expect(take()).toBeLessThan(60);
  });
});
