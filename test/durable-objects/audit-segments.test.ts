import { runInDurableObject } from "cloudflare:test";
import { expect, test } from "vitest";
import { hasTable } from "../../durable-objects/has-table.ts";
import { removeOldRecords } from "../../durable-objects/tenant/records/audit-retention.ts";
import { verifyChain, type Verdict } from "../../cli/audit/verify-chain.ts";
import type { Segment } from "../../durable-objects/tenant/records/audit-summaries.ts";
import { createDurableAuditArchives } from "../../src/adapters/tenant/durable-audit-archives.ts";
import { createAuditSigner } from "../../src/adapters/keys/audit-signer.ts";
import type { ArchiveMethods, AuditArchives } from "../../src/capabilities/audit.ts";
import { checkpointText, type SignedCheckpoint } from "../../src/protocol/audit/checkpoint.ts";
import { removalText } from "../../src/protocol/audit/removed.ts";
import type { RunId } from "../../src/protocol/identity/ids.ts";
import { askAudit, readAudit } from "../shared/audit-pages.ts";
import {
  auditNotice,
  auditOf,
  tenantOf,
  tenantRows,
  withAuditBook,
} from "../shared/tenant-notices.ts";
import { bindings } from "../shared/worker.ts";

/** The tenant of the caller `stranger`. */
const TENANT = "elsewhere";
const SECRET = "a secret for tests, 32 bytes long";
const signer = createAuditSigner(SECRET);
const archives = createDurableAuditArchives(bindings.TENANTS);

/** Text that compresses badly. */
const noise = (chars: number): string =>
  Array.from({ length: chars / 32 }, () => crypto.randomUUID().replaceAll("-", "")).join("");

let runs = 0;
/** Adds records of a new run to a tenant's log; answers its id. */
async function tell(tenant: string, count: number, chars = 0): Promise<string> {
  const runId = `run_${++runs}`;
  const input = chars > 0 ? { input: { noise: noise(chars) } } : {};
  const sent = Array.from({ length: count }, (_, index) => auditNotice(index + 1, input));
  await tenantOf(tenant).receive(runId as RunId, sent);
  return runId;
}

/** Closes a segment and moves it, with small segments. */
async function closeAndMove(tenant: string, with_: AuditArchives = archives): Promise<void> {
  await withAuditBook(tenant, { segmentBytes: 10, archives: with_ }, async (book) => {
    do await book.archive();
    while (
      book.summaries.segments().some(({ moved, checkpoint }) => moved.seq < checkpoint.lastSeq)
    );
  });
}

async function verify(caller: "stranger" | "archive" = "stranger"): Promise<Verdict> {
  const response = await askAudit("?format=jsonl", caller);
  const lines = (await response.text()).trimEnd().split("\n");
  async function* read(): AsyncGenerator<string> {
    yield* lines;
  }
  const header = (name: string): string => response.headers.get(name) ?? "";
  return verifyChain(read(), { head: header("x-audit-head"), keys: [header("x-audit-key")] });
}

interface Pages {
  readonly seqs: readonly number[];
  readonly checkpoints: readonly SignedCheckpoint[];
}

async function readPages(): Promise<Pages> {
  const seqs: number[] = [];
  const checkpoints: SignedCheckpoint[] = [];
  for (let cursor = ""; ;) {
    const page = await readAudit(`?limit=100${cursor}`, "stranger");
    seqs.push(...page.records.map(({ seq }) => seq));
    if (page.checkpoint) checkpoints.push(page.checkpoint);
    if (page.next === undefined) return { seqs, checkpoints };
    cursor = `&cursor=${page.next}`;
  }
}

const upTo = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n + 1);
const storedSeqs = async (tenant: string): Promise<readonly unknown[]> =>
  (await tenantRows(tenant, "SELECT seq FROM audit ORDER BY seq")).map(({ seq }) => seq);
const segmentsOf = (tenant: string): Promise<readonly Segment[]> =>
  withAuditBook(tenant, {}, async (book) => book.summaries.segments());
const inArchive = <Made>(
  { place }: Segment,
  work: (storage: DurableObjectStorage) => Made,
): Promise<Made> => {
  const { TENANTS } = bindings;
  return runInDurableObject(TENANTS.get(TENANTS.idFromString(place)), (_object, { storage }) =>
    work(storage),
  );
};

test("a large log closes and moves while records come, and reads as one chain", async () => {
  const before = await tell(TENANT, 3);
  for (let filled = 0; filled < 60; filled += 10) await tell(TENANT, 10, 60_000);
  // These come while the alarm closes and moves.
  const during = async (): Promise<boolean> => {
    await Promise.all([tell(TENANT, 2), tell(TENANT, 2), tell(TENANT, 1)]);
    const [segment] = await segmentsOf(TENANT);
    return segment?.moved.seq === segment?.checkpoint.lastSeq && segment !== undefined;
  };
  await expect.poll(during, { interval: 200 }).toBe(true);
  const { head } = await auditOf(TENANT);
  const { seqs, checkpoints } = await readPages();
  expect(seqs).toEqual(upTo(head.seq));
  expect(checkpoints).toMatchObject([{ firstSeq: 1 }]);
  expect(await verify()).toMatchObject({ kind: "whole", count: head.seq, segments: 1 });
  const found = await readAudit(`?run=${before}`, "stranger");
  expect(found.records.map(({ seq }) => seq)).toEqual([1, 2, 3]);
});

test("a move whose answer is lost, or that never arrives, loses and repeats nothing", async () => {
  await tell("moving", 20, 3_200);
  for (const isSent of [false, true]) {
    const lossy: AuditArchives = {
      ...archives,
      of: (...place) => ({
        ...archives.of(...place),
        async keep(rows) {
          if (isSent) await archives.of(...place).keep(rows);
          return false;
        },
      }),
    };
    await withAuditBook("moving", { segmentBytes: 10, archives: lossy }, async (book) => {
      await book.archive();
      await book.archive();
    });
    expect((await storedSeqs("moving")).length).toBe(20);
  }
  await Promise.all([closeAndMove("moving"), tell("moving", 5)]);
  const { items, head } = await auditOf("moving");
  expect([items.length, head.seq]).toEqual([19, 25]);
  const [segment] = await segmentsOf("moving");
  expect(
    await inArchive(segment as Segment, ({ sql }) =>
      sql.exec("SELECT count(*) AS n FROM audit").one(),
    ),
  ).toEqual({ n: 19 });
});

test("another tenant reaches no archive, by name, by id or with a planted segment", async () => {
  await tell("owner", 5);
  await closeAndMove("owner");
  const [segment] = (await segmentsOf("owner")) as [Segment];
  const { TENANTS } = bindings;
  const named = TENANTS.get(TENANTS.idFromName(segment.place)) as unknown as ArchiveMethods;
  const placed = TENANTS.get(TENANTS.idFromString(segment.place)) as unknown as ArchiveMethods;
  const head = TENANTS.get(TENANTS.idFromName("owner")) as unknown as ArchiveMethods;
  const ids = ["owner", "thief"].map((name) => TENANTS.idFromName(name).toString());
  const [owner = "", thief = ""] = ids;
  const stretch = { after: 0, limit: 10, lastSeq: 4, start: { seq: 0, hash: "" } };
  const seen = await Promise.all([
    named.readArchived(owner, stretch),
    placed.readArchived(thief, stretch),
    head.readArchived(owner, stretch),
    archives.of(segment.place, thief).keep([]),
    archives.of(owner, owner).keep([]),
    placed.planArchived(thief, { start: stretch.start, lastSeq: 4, beforeMs: 0 }),
    placed.dropArchived(thief),
  ]);
  const nothing = { items: [] };
  expect(seen).toEqual([nothing, nothing, nothing, false, false, "broken", true]);
  await tell("thief", 6);
  await withAuditBook("thief", {}, async (book) => book.summaries.putSegment(segment));
  expect((await auditOf("thief")).items).toEqual([]);
  expect((await auditOf("owner")).items.length).toBe(4);
});

/** Two segments of four records, and one record more. */
async function fill(): Promise<readonly [Segment, Segment]> {
  await runInDurableObject(tenantOf(TENANT), (_object, { storage: { sql } }) => {
    for (const table of ["audit", "audit_summaries"]) {
      if (hasTable(sql, table)) sql.exec(`DELETE FROM ${table}`);
    }
  });
  await tell(TENANT, 5);
  await closeAndMove(TENANT);
  await tell(TENANT, 4);
  await closeAndMove(TENANT);
  expect(await verify()).toMatchObject({ kind: "whole", count: 9, segments: 2 });
  return (await segmentsOf(TENANT)) as unknown as [Segment, Segment];
}

const put = (segment: Segment): Promise<void> =>
  withAuditBook(TENANT, {}, async (book) => book.summaries.putSegment(segment));

test.each<[string, string, (both: readonly [Segment, Segment]) => Promise<unknown>]>([
  [
    "an object that lost its records",
    "the checkpoint names another last record",
    ([first]) => inArchive(first, (storage) => storage.deleteAll()),
  ],
  [
    "objects in another order",
    "the checkpoint names another last record",
    ([first, second]) =>
      Promise.all([put({ ...first, place: second.place }), put({ ...second, place: first.place })]),
  ],
  [
    "a changed record of an archive",
    "its hash is not that of its content",
    ([first]) =>
      inArchive(first, ({ sql }) =>
        sql.exec("UPDATE audit SET action = 'run.ended' WHERE seq = 2"),
      ),
  ],
  [
    "an object that nobody knows any more",
    "its number is 5, and 1 is due",
    ([first]) => withAuditBook(TENANT, {}, async (book) => book.summaries.forget(first)),
  ],
  [
    "a checkpoint of another key",
    "it is signed by another key than --key",
    async ([first]) => {
      const other = createAuditSigner("another secret, 32 bytes or more");
      const { signature: _, ...facts } = first.checkpoint;
      const checkpoint = { ...facts, key: await other.publicKey() };
      const signature = await other.sign(checkpointText(checkpoint));
      return put({ ...first, checkpoint: { ...checkpoint, signature } });
    },
  ],
  [
    "a changed checkpoint",
    "its signature is forged",
    ([first]) => put({ ...first, checkpoint: { ...first.checkpoint, closedAt: "2026-01-01" } }),
  ],
  [
    "a summary of removed records as a checkpoint",
    "its signature is forged",
    async ([first]) => {
      const { closedAt: _, signature: __, ...facts } = first.checkpoint;
      const signature = await signer.sign(removalText({ ...facts, lastAt: "2026-01-01" }));
      return put({ ...first, checkpoint: { ...first.checkpoint, signature } });
    },
  ],
])("the verifier names %s", async (_name, why, attack) => {
  await attack(await fill());
  expect(await verify()).toMatchObject({ kind: "broken", why });
});

/** Removes all records but the newest, step by step, as the alarm does once they are old. */
function removeAll(rounds: number, with_: AuditArchives = archives): Promise<readonly boolean[]> {
  return withAuditBook(TENANT, { archives: with_ }, async (book, storage) => {
    const held: boolean[] = [];
    const removal = { storage, signer, beforeMs: Date.now() + 1_000 };
    for (let round = 0; round < rounds; round++) held.push(await removeOldRecords(book, removal));
    return held;
  });
}

test("the retention goes through the archives, and an empty one is deleted", async () => {
  const [first, second] = await fill();
  await removeAll(1);
  const removed = { lastSeq: 4 };
  expect(await verify()).toMatchObject({ kind: "whole", count: 5, segments: 1, removed });
  expect((await readPages()).seqs).toEqual([5, 6, 7, 8, 9]);
  const unreachable: AuditArchives = {
    ...archives,
    of: (...place) => ({ ...archives.of(...place), drop: () => Promise.resolve(false) }),
  };
  await removeAll(2, unreachable);
  expect((await segmentsOf(TENANT)).length).toBe(2);
  expect(await removeAll(6)).not.toContain(false);
  expect([await segmentsOf(TENANT), await storedSeqs(TENANT)]).toEqual([[], [9]]);
  for (const archive of [first, second]) {
    const left = await inArchive(archive, ({ sql }) =>
      sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray(),
    );
    expect(left).toEqual([]);
  }
  await tell(TENANT, 3);
  await closeAndMove(TENANT);
  const later = { kind: "whole", count: 4, segments: 1, removed: { lastSeq: 8 } };
  expect(await verify()).toMatchObject(later);
});

test("the retention signs for no archive whose records do not follow each other", async () => {
  const [first] = await fill();
  await inArchive(first, ({ sql }) => sql.exec("DELETE FROM audit WHERE seq = 2"));
  expect(await removeAll(2)).toEqual([false, false]);
  expect(await verify()).toMatchObject({ kind: "broken" });
});

test("a checkpoint passes for no summary of removed records", async () => {
  const [first] = await fill();
  await withAuditBook(TENANT, {}, async (book) => {
    const { closedAt, ...facts } = first.checkpoint;
    book.summaries.putRemoved({ ...facts, lastAt: closedAt });
  });
  expect(await removeAll(1)).toEqual([false]);
});
