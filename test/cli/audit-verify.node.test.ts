import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { runCommand } from "../shared/command-process.ts";
import { verifyChain, type Verdict } from "../../cli/audit/verify-chain.ts";
import { auditLine, GENESIS_HASH, type AuditRecord } from "../../src/protocol/audit/chain.ts";
import { toCanonicalJson } from "../../src/protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";

const directory = mkdtempSync(join(tmpdir(), "interlock-audit-"));
afterAll(() => rmSync(directory, { recursive: true }));

const textOf = (link: Omit<AuditRecord, "hash">): string =>
  toCanonicalJson(link as unknown as JsonObject);

/** A sound chain, by this test's own arithmetic. */
function chainOf(count: number): readonly AuditRecord[] {
  const records: AuditRecord[] = [];
  for (let seq = 1; seq <= count; seq++) {
    const entry = { action: "run.started", at: "2026-11-21T00:00:00.000Z", reason: `${seq}` };
    const prevHash = records.at(-1)?.hash ?? GENESIS_HASH;
    const link = { seq, entry: entry as AuditEntry, prevHash };
    const hash = `sha256:${createHash("sha256").update(textOf(link)).digest("hex")}`;
    records.push({ ...link, hash });
  }
  return records;
}

const chain = chainOf(6);
const lines = chain.map((record) => auditLine(record).trimEnd());
const headOf = ({ seq, hash }: AuditRecord): AuditRecord => ({ seq, hash }) as AuditRecord;
const last = chain.at(-1) as AuditRecord;
const end = auditLine({ head: headOf(last) }).trimEnd();
const whole = [...lines, end];

async function* give(texts: readonly string[]): AsyncGenerator<string> {
  yield* texts;
}
const verify = (texts: readonly string[], head?: string): Promise<Verdict> =>
  verifyChain(give(texts), { head });
const replaced = (index: number, text: string): readonly string[] => whole.with(index, text);

test("a complete export passes and returns its last record", async () => {
  const expected = { kind: "whole", count: 6, segments: 0, lastHash: last.hash };
  expect([await verify(whole), await verify(whole, last.hash)]).toEqual([expected, expected]);
});

test("an empty log passes", async () => {
  const nothing = auditLine({ head: { seq: 0, hash: GENESIS_HASH } }).trimEnd();
  expect(await verify([nothing])).toMatchObject({ kind: "whole", count: 0 });
});

/** Somebody who knows how the chain is made, and changes one record with its hash. */
function rehashed(index: number): string {
  const { hash: _, ...record } = chain[index] as AuditRecord;
  const link = { ...record, entry: { ...record.entry, reason: "planted" } };
  const hash = `sha256:${createHash("sha256").update(textOf(link)).digest("hex")}`;
  return auditLine({ ...link, hash }).trimEnd();
}

const swapped = [...whole];
[swapped[1], swapped[2]] = [swapped[2] ?? "", swapped[1] ?? ""];
const cut = [...lines.slice(0, 4), auditLine({ head: headOf(chain[3] as AuditRecord) }).trimEnd()];

describe("a chain is broken by", () => {
  test.each<[string, readonly string[], number, string]>([
    ["a changed word", replaced(2, lines[2]?.replace('"3"', '"4"') ?? ""), 3, "hash"],
    ["a changed word under a new hash", replaced(2, rehashed(2)), 4, "does not follow"],
    ["a changed last record under a new hash", replaced(5, rehashed(5)), 7, "another last record"],
    ["a removed record", whole.toSpliced(3, 1), 4, "number is 5, and 4 is due"],
    ["a removed first record", whole.toSpliced(0, 1), 1, "number is 2, and 1 is due"],
    ["a repeated record", whole.toSpliced(3, 0, lines[2] ?? ""), 4, "number is 3, and 4 is due"],
    ["a swapped pair", swapped, 2, "number is 3, and 2 is due"],
    ["a lost tail", lines.slice(0, 4), 5, "end line is missing"],
    ["no end line", lines, 7, "end line is missing"],
    ["a line after the end", [...whole, lines[5] ?? ""], 8, "follows the end"],
    ["spaces", replaced(1, lines[1]?.replace(",", ", ") ?? ""), 2, "canonical form"],
    ["another key order", replaced(1, JSON.stringify(chain[1])), 2, "canonical form"],
    ["a key that comes twice", replaced(1, `{"seq":9,${lines[1]?.slice(1)}`), 2, "canonical form"],
    ["half a character", replaced(1, '{"a":"\\ud800"}'), 2, "canonical form"],
    ["no JSON", replaced(1, "{"), 2, "not JSON"],
    ["no object", replaced(1, "7"), 2, "not a JSON object"],
    ["an empty line", whole.toSpliced(2, 0, ""), 3, "not JSON"],
    ["a field more", replaced(1, `{"a":1,${lines[1]?.slice(1)}`), 2, "fields"],
  ])("%s", async (_name, texts, line, why) => {
    expect(await verify(texts)).toEqual({
      kind: "broken",
      line,
      why: expect.stringContaining(why),
    });
  });

  test("a tail that was removed at a record, which only the head shows", async () => {
    expect(await verify(cut)).toMatchObject({ kind: "whole", count: 4 });
    expect(await verify(cut, last.hash)).toMatchObject({ kind: "broken", line: 5 });
  });
});

test("a chain with an earlier head passes, and another chain fails", async () => {
  const known = chain[2]?.hash;
  expect(await verifyChain(give(whole), { known })).toMatchObject({ kind: "whole" });
  expect(await verifyChain(give(whole), { known: chainOf(7)[6]?.hash })).toEqual({
    kind: "broken",
    line: 7,
    why: "no record is the one of --known",
  });
});

test("a long export reports the progress of the check", async () => {
  const long = chainOf(20_000);
  const seen: number[] = [];
  async function* texts(): AsyncGenerator<string> {
    for (const record of long) yield auditLine(record).trimEnd();
    yield auditLine({ head: headOf(long.at(-1) as AuditRecord) }).trimEnd();
  }
  const progress = (count: number): void => void seen.push(count);
  expect(await verifyChain(texts(), { progress })).toMatchObject({ kind: "whole" });
  expect(seen).toEqual([10_000, 20_000]);
});

const run = async (...flags: string[]) => {
  const { exitCode, stdout } = await runCommand(["audit", "verify", ...flags], directory);
  return { status: exitCode, stdout };
};
const fileOf = (name: string, texts: readonly string[]): string => {
  const path = join(directory, name);
  writeFileSync(path, `${texts.join("\n")}\n`);
  return path;
};

test("the exit code is 0 for a complete chain, and 1 with the line for a broken one", async () => {
  const sound = await run(fileOf("whole.jsonl", whole), "--head", last.hash);
  expect([sound.status, sound.stdout]).toEqual([0, expect.stringContaining("6 records")]);
  const broken = await run(fileOf("broken.jsonl", replaced(2, rehashed(2))));
  expect([broken.status, broken.stdout]).toEqual([
    1,
    expect.stringContaining("BROKEN at line 4: it does not follow"),
  ]);
});

/** An export whose first three records the retention removed, signed by this test's own key. */
function shortened(change: JsonObject = {}): {
  readonly texts: readonly string[];
  readonly key: string;
} {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const key = publicKey.export({ format: "jwk" }).x ?? "";
  const { seq: lastSeq, hash: lastHash, entry } = chain[2] as AuditRecord;
  const facts = { count: 3, firstSeq: 1, lastSeq, lastHash, lastAt: entry.at, key, ...change };
  const signature = sign(null, Buffer.from(toCanonicalJson(facts)), privateKey);
  const removed = { ...facts, signature: signature.toString("base64url") };
  return { texts: [toCanonicalJson({ removed }), ...whole.slice(3)], key };
}

test("a chain holds after a signed summary of removed records, and a forged summary is named", async () => {
  const { texts, key } = shortened();
  const sound = await run(fileOf("shortened.jsonl", texts), "--head", last.hash, "--key", key);
  expect([sound.status, sound.stdout]).toEqual([0, expect.stringContaining("3 were removed")]);
  const unknown = await run(fileOf("shortened.jsonl", texts));
  expect([unknown.status, unknown.stdout]).toEqual([0, expect.stringContaining("Without --key")]);
  const foreign = await run(fileOf("shortened.jsonl", texts), "--key", shortened().key);
  expect([foreign.status, foreign.stdout]).toEqual([
    1,
    expect.stringContaining("BROKEN at line 1: it is signed by another key than --key"),
  ]);
  const forged = texts.with(0, (texts[0] ?? "").replace("2026-11-21", "2026-11-20"));
  const named = await run(fileOf("forged.jsonl", forged), "--key", key);
  expect([named.status, named.stdout]).toEqual([
    1,
    expect.stringContaining("BROKEN at line 1: its signature is forged"),
  ]);
});

test.each<[string, JsonObject, string]>([
  ["another count", { count: 2 }, "its numbers do not fit together"],
  ["another first record", { firstSeq: 2 }, "its numbers do not fit together"],
  ["a field more", { reason: "spring" }, "it has not the fields of a summary"],
])("a signed summary with %s is named", async (_, change, why) => {
  expect(await verifyChain(give(shortened(change).texts), {})).toEqual({
    kind: "broken",
    line: 1,
    why: expect.stringContaining(why),
  });
});

test("a key that begins with a hyphen is a key", async () => {
  const { texts } = shortened();
  const verified = await run(
    fileOf("hyphen.jsonl", texts),
    "--key",
    "-a-key-of-another-deployment",
  );
  expect([verified.status, verified.stdout]).toEqual([
    1,
    expect.stringContaining("it is signed by another key than --key"),
  ]);
});

test("wrong arguments print the usage", async () => {
  for (const flags of [[], ["a", "b"], ["--url", "http://x"], ["--nonsense"], ["/no/such/file"]]) {
    expect((await run(...flags)).status).toBe(2);
  }
});

test("the command reads from a deployment with a token from a file", async () => {
  const asked: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers.authorization}`);
    response.end(`${whole.join("\n")}\n`);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const { status } = await run("--url", url, "--token-file", fileOf("token", ["t1"]));
  server.close();
  expect([status, asked]).toEqual([0, ["/v1/audit?format=jsonl Bearer t1"]]);
});
