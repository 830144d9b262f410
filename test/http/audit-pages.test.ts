import { beforeAll, describe, expect, test } from "vitest";
import { verifyChain, type Verdict } from "../../cli/audit/verify-chain.ts";
import type { AuditRecord } from "../../src/protocol/audit/chain.ts";
import { askAudit, readAudit, recorded, type AuditPage } from "../shared/audit-pages.ts";
import { refusalOf } from "../shared/run-object.ts";
import { auditNotice, tenantOf } from "../shared/tenant-notices.ts";
import { seedPolicies } from "../shared/worker.ts";

beforeAll(seedPolicies);

describe("pages", () => {
  test("are oldest first, follow each other without gaps, and name the head", async () => {
    await recorded({ name: "core__get_current_time", args: "{}" });
    const seqs: number[] = [];
    let cursor = "";
    let head: string | null = null;
    let last: AuditRecord | undefined;
    for (let turn = 0; turn < 200; turn++) {
      const response = await askAudit(`?limit=3${cursor}`);
      head = response.headers.get("x-audit-head");
      const { records, next } = await response.json<AuditPage>();
      seqs.push(...records.map(({ seq }) => seq));
      last = records.at(-1) ?? last;
      if (next === undefined) break;
      cursor = `&cursor=${next}`;
    }
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(head).toBe(last?.hash);
  });

  test("are those of a time, a run or an action", async () => {
    const before = new Date().toISOString();
    const entries = await recorded({ name: "core__get_current_time", args: "{}" });
    const runId = entries[0]?.runId;
    const after = new Date(Date.now() + 1_000).toISOString();
    const { records } = await readAudit(`?from=${before}&to=${after}&run=${runId}`);
    expect(records.length).toBe(3);
    expect((await readAudit(`?to=${before}&run=${runId}`)).records).toEqual([]);
    expect((await readAudit(`?action=call.ended&run=${runId}`)).records.length).toBe(1);
  });

  test("look at a bounded stretch of the log, and go on from where they stopped", async () => {
    const batch = (from: number) =>
      Array.from({ length: 2_000 }, (_, index) => auditNotice(from + index));
    for (const from of [1, 2_001, 4_001]) {
      await tenantOf("elsewhere").receive("run_long" as never, batch(from));
    }
    const found = { action: "run.ended" } as const;
    await tenantOf("elsewhere").receive("run_long" as never, [auditNotice(6_001, found)]);
    const first = await readAudit("?action=run.ended", "stranger");
    expect([first.records, typeof first.next]).toEqual([[], "string"]);
    const second = await readAudit(`?action=run.ended&cursor=${first.next}`, "stranger");
    expect([second.records.length, second.next]).toEqual([1, undefined]);
    const lines = (
      await (await askAudit("?format=jsonl&action=run.ended", "stranger")).text()
    ).trim();
    expect(lines.split("\n").length).toBe(1);
  });

  test("are of no use to another tenant, nor with another filter", async () => {
    const { next } = await readAudit("?limit=1");
    for (const [query, caller] of [
      ["?", "stranger"],
      ["?action=run.ended&", "archive"],
      ["?view=prompt_history&", "archive"],
    ] as const) {
      const answer = await askAudit(`${query}cursor=${next}`, caller);
      expect(await refusalOf(answer)).toEqual([400, "cursor_invalid"]);
    }
  });
});

describe("another tenant", () => {
  test("finds nothing under a foreign run id, exactly as under one that never was", async () => {
    const entries = await recorded({ name: "core__get_current_time", args: "{}" });
    const answers = [
      await askAudit(`?run=${entries[0]?.runId}`, "stranger"),
      await askAudit(`?run=run_${"0".repeat(32)}_${"0".repeat(32)}`, "stranger"),
      await askAudit("?run=nonsense", "stranger"),
    ];
    const bodies = await Promise.all(answers.map((answer) => answer.text()));
    expect(bodies).toEqual(bodies.map(() => '{"records":[]}'));
    expect(new Set(answers.map(({ headers }) => headers.get("x-audit-head"))).size).toBe(1);
  });

  test("has a chain of its own", async () => {
    expect((await readAudit("?limit=1", "stranger")).records[0]?.seq).toBe(1);
  });
});

async function verdictOf(text: string, head?: string): Promise<Verdict> {
  async function* lines(): AsyncGenerator<string> {
    yield* text.trimEnd().split("\n");
  }
  return verifyChain(lines(), { head });
}

describe("an export", () => {
  test("is a whole chain that the verifier accepts, and that betrays a planted change", async () => {
    const response = await askAudit("?format=jsonl");
    const head = response.headers.get("x-audit-head") ?? "";
    const text = await response.text();
    expect(response.headers.get("content-type")).toBe("application/jsonl");
    expect(await verdictOf(text, head)).toMatchObject({ kind: "whole" });
    const planted = text.replace("user:archive", "user:arch1ve");
    expect(await verdictOf(planted, head)).toMatchObject({ kind: "broken" });
  });

  test("ends where the chain ended when it began, over many pages", async () => {
    // An export reads a page ahead, so the record that comes meanwhile is of the third page.
    const notices = Array.from({ length: 450 }, (_, index) => auditNotice(index + 1));
    await tenantOf("elsewhere").receive("run_earlier" as never, notices);
    const response = await askAudit("?format=jsonl", "stranger");
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = decoder.decode((await reader?.read())?.value, { stream: true });
    await tenantOf("elsewhere").receive("run_later" as never, [auditNotice(1)]);
    for (let part = await reader?.read(); part && !part.done; part = await reader?.read()) {
      text += decoder.decode(part.value, { stream: true });
    }
    const head = response.headers.get("x-audit-head") ?? "";
    const verdict = await verdictOf(text, head);
    expect(verdict).toMatchObject({ kind: "whole" });
    expect(verdict).toHaveProperty("count", text.trimEnd().split("\n").length - 1);
  });

  test("of an empty log is its end line", async () => {
    const answer = await askAudit("?format=jsonl", "hollow");
    expect(await verdictOf(await answer.text())).toMatchObject({ kind: "whole", count: 0 });
  });

  test("has no pages", async () => {
    for (const query of ["limit=5", "cursor=abc"]) {
      const answer = await askAudit(`?format=jsonl&${query}`);
      expect(await refusalOf(answer)).toEqual([400, "query_invalid"]);
    }
  });

  test("whose reader leaves reads no further", async () => {
    const response = await askAudit("?format=jsonl", "stranger");
    const reader = response.body?.getReader();
    await reader?.read();
    await expect(reader?.cancel()).resolves.toBeUndefined();
  });
});
