import { runInDurableObject } from "cloudflare:test";
import { beforeEach, expect, test } from "vitest";
import { hasTable } from "../../durable-objects/has-table.ts";
import { verifyChain, type Verdict } from "../../cli/audit/verify-chain.ts";
import { removeOldRecords } from "../../durable-objects/tenant/records/audit-retention.ts";
import { createAuditSigner } from "../../src/adapters/keys/audit-signer.ts";
import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import {
  auditNotice,
  isoAt,
  tenantOf,
  tenantRows,
  withAuditBook,
} from "../shared/tenant-notices.ts";
import { send } from "../shared/worker.ts";

const DAY_MS = 86_400_000;
const TENANT = "elsewhere";
const SECRET = "a secret for tests, 32 bytes long";

/** Empties the log that earlier tests filled. */
beforeEach(() =>
  runInDurableObject(tenantOf(TENANT), (_object, { storage: { sql } }) => {
    for (const table of ["audit", "audit_summaries"]) {
      if (hasTable(sql, table)) sql.exec(`DELETE FROM ${table}`);
    }
  }),
);

let sent = 0;
/** Adds records to the audit log, `agoDays` old. */
async function tell(count: number, agoDays = 0): Promise<void> {
  const at = isoAt(-agoDays * DAY_MS);
  const notices = Array.from({ length: count }, () => auditNotice(++sent, { at }));
  await tenantOf(TENANT).receive("run_1" as RunId, notices);
}

/** Removes all records but the newest, as the alarm does once they are old. */
function removeAll(secret = SECRET): Promise<boolean> {
  const removal = { signer: createAuditSigner(secret), beforeMs: Date.now() + DAY_MS };
  return withAuditBook(TENANT, {}, (book, storage) =>
    removeOldRecords(book, { ...removal, storage }),
  );
}

interface Export {
  readonly lines: readonly string[];
  readonly head: string;
  readonly key: string;
}

async function exportLog(): Promise<Export> {
  const response = await send("/v1/audit?format=jsonl", { caller: "stranger" });
  const lines = (await response.text()).trimEnd().split("\n");
  const header = (name: string): string => response.headers.get(name) ?? "";
  return { lines, head: header("x-audit-head"), key: header("x-audit-key") };
}

async function verify({ lines, head, key }: Export): Promise<Verdict> {
  async function* read(): AsyncGenerator<string> {
    yield* lines;
  }
  return verifyChain(read(), { head, keys: [key] });
}

const numbersIn = async (): Promise<readonly unknown[]> =>
  (await tenantRows(TENANT, "SELECT seq FROM audit ORDER BY seq")).map(({ seq }) => seq);

test("an alarm removes records whose retention has ended, and the chain still holds", async () => {
  await tell(5, 181);
  await tell(3, 170);
  await expect.poll(numbersIn).toEqual([6, 7, 8]);
  const exported = await exportLog();
  const removed = { count: 5, firstSeq: 1, lastSeq: 5, key: exported.key };
  expect(await verify(exported)).toMatchObject({ kind: "whole", count: 3, removed });
  const page = await send("/v1/audit", { caller: "stranger" });
  expect(await page.json()).toMatchObject({
    removed,
    records: [{ seq: 6 }, { seq: 7 }, { seq: 8 }],
  });
});

test("a later removal extends the summary, and the newest record always stays", async () => {
  await tell(4);
  expect(await removeAll()).toBe(true);
  await tell(4);
  expect(await removeAll()).toBe(true);
  expect(await removeAll()).toBe(true);
  expect(await numbersIn()).toEqual([8]);
  const removed = { count: 7, firstSeq: 1, lastSeq: 7 };
  expect(await verify(await exportLog())).toMatchObject({ kind: "whole", count: 1, removed });
});

test("a removal takes a bounded number of records at once", async () => {
  await tell(1_500);
  await removeAll();
  expect((await numbersIn())[0]).toBe(1_001);
  expect(await verify(await exportLog())).toMatchObject({ kind: "whole", count: 500 });
});

/** Changes the summary in the first line of an export. */
function withSummary({ lines, ...rest }: Export, change: object): Export {
  const { removed } = JSON.parse(lines[0] ?? "") as { removed: JsonObject };
  const first = toCanonicalJson({ removed: { ...removed, ...change } });
  return { ...rest, lines: lines.with(0, first) };
}

test("a summary that somebody forged is named", async () => {
  await tell(6);
  await removeAll();
  const exported = await exportLog();
  const forged = { kind: "broken", line: 1, why: "its signature is forged" };
  for (const change of [{ lastAt: isoAt() }, { lastHash: exported.head }, { signature: "AAAA" }]) {
    expect(await verify(withSummary(exported, change))).toEqual(forged);
  }
  const fewer = withSummary(exported, { count: 3 });
  expect(await verify(fewer)).toMatchObject({ why: "its numbers do not fit together" });
  const own = { key: await createAuditSigner("another secret, 32 bytes or more").publicKey() };
  const foreign = { kind: "broken", line: 1, why: "it is signed by another key than --key" };
  expect(await verify(withSummary(exported, own))).toEqual(foreign);
  const withoutIt = { ...exported, lines: exported.lines.slice(1) };
  expect(await verify(withoutIt)).toMatchObject({ kind: "broken", line: 1 });
});

// Somebody who can write the storage lets the retention sign for what they did.
test.each<[string, string]>([
  ["a changed record", `UPDATE audit SET action = 'run.ended' WHERE seq = 2`],
  ["a removed record", "DELETE FROM audit WHERE seq = 3"],
  ["a removed start", "DELETE FROM audit WHERE seq = 1"],
])("the retention signs for nothing after %s", async (_name, sql) => {
  await tell(6);
  await tenantRows(TENANT, sql);
  const before = await numbersIn();
  expect(await removeAll()).toBe(false);
  expect(await numbersIn()).toEqual(before);
  expect(await verify(await exportLog())).toMatchObject({ kind: "broken" });
});

test("the retention does not go on from a summary that somebody planted", async () => {
  await tell(6);
  await removeAll("another secret, 32 bytes or more");
  await tell(3);
  expect(await removeAll()).toBe(false);
  const why = "it is signed by another key than --key";
  expect(await verify(await exportLog())).toMatchObject({ kind: "broken", why });
});

test("a record is as old as its entry says, not as its column says", async () => {
  await tell(4, 1);
  await tenantRows(TENANT, "UPDATE audit SET at_ms = 1");
  const removal = { signer: createAuditSigner(SECRET), beforeMs: Date.now() - 180 * DAY_MS };
  const holds = await withAuditBook(TENANT, {}, (book, storage) =>
    removeOldRecords(book, { ...removal, storage }),
  );
  expect([holds, await numbersIn()]).toEqual([false, [1, 2, 3, 4]]);
});

test("an export breaks off when records are removed while it runs", async () => {
  await tell(900);
  const response = await send("/v1/audit?format=jsonl", { caller: "stranger" });
  const reader = response.body?.getReader();
  await reader?.read();
  await removeAll();
  const rest = async (): Promise<void> => {
    for (let read = await reader?.read(); read && !read.done;) read = await reader?.read();
  };
  await expect(rest()).rejects.toThrow();
});
