import { readFileSync } from "node:fs";
import * as v from "valibot";
import { compareVersions } from "../../src/contracts/route-versions.ts";
import type { PublishedContract } from "../../src/contracts/publish.ts";
import { isJsonObject, type JsonValue } from "../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../src/protocol/outcome/result.ts";
import { LIFECYCLE_STATUSES } from "../../src/protocol/tool/lifecycle.ts";

/** The published contract of every version, by `<tool>@<version>`, in the order of the file. */
export type ContractLock = ReadonlyMap<string, PublishedContract>;

const LOCK_VERSION = 1;

/** Fields that name and order an entry. All other fields are compared one by one. */
const lockDocument = v.strictObject({
  lockVersion: v.literal(LOCK_VERSION),
  contracts: v.record(
    v.string(),
    v.looseObject({
      contract: v.looseObject({
        identity: v.looseObject({
          name: v.string(),
          version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/)),
          lifecycle: v.looseObject({ status: v.picklist(LIFECYCLE_STATUSES) }),
        }),
        affordance: v.looseObject({ input_schema: v.looseObject({}) }),
      }),
      interlock: v.looseObject({}),
    }),
  ),
});

/** Formats the key of a tool version: `<tool>@<version>`. */
export function keyOf({ contract }: PublishedContract): string {
  return `${contract.identity.name}@${contract.identity.version}`;
}

/**
 * Sorts contracts by name, then by version, as in the lock. Fails: throws when one version occurs
 * twice.
 */
export function toLock(contracts: readonly PublishedContract[]): ContractLock {
  const lock = new Map<string, PublishedContract>();
  for (const contract of contracts.toSorted(compareContracts)) {
    const key = keyOf(contract);
    if (lock.has(key)) throw new Error(`${key} is declared twice`);
    lock.set(key, contract);
  }
  return lock;
}

function compareContracts(a: PublishedContract, b: PublishedContract): number {
  const [left, right] = [a.contract.identity, b.contract.identity];
  if (left.name !== right.name) return left.name < right.name ? -1 : 1;
  return compareVersions(left.version, right.version);
}

/** Formats the lock file for readable diffs: two spaces, sorted keys, a final newline. */
export function writeLock(lock: ContractLock): string {
  // Versions are sorted by number, so only the keys below them are sorted by name.
  const contracts = Object.fromEntries(
    [...lock].map(([key, contract]) => [key, sortKeys(contract)] as const),
  );
  return `${JSON.stringify({ lockVersion: LOCK_VERSION, contracts }, null, 2)}\n`;
}

function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return (value as readonly JsonValue[]).map(sortKeys);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, sortKeys(item)]));
}

/** Parses the lock file. Fails: with the reason as text. */
export function parseLock(text: string): Result<ContractLock, string> {
  let document: unknown;
  try {
    document = JSON.parse(text);
  } catch (error) {
    return fail(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  const parsed = v.safeParse(lockDocument, document);
  if (!parsed.success) {
    const [issue] = parsed.issues;
    const place = v.getDotPath(issue);
    return fail(`is no contract lock: ${place === null ? "" : `${place}: `}${issue.message}`);
  }
  // Keeps the parsed document, because valibot's copy drops keys such as __proto__.
  const { contracts } = document as { contracts: Readonly<Record<string, PublishedContract>> };
  for (const [key, contract] of Object.entries(contracts)) {
    if (keyOf(contract) !== key) return fail(`names ${keyOf(contract)} ${JSON.stringify(key)}`);
  }
  return ok(toLock(Object.values(contracts)));
}

/** Reads the lock file. Fails: with the reason as text; `missing` when the file does not exist. */
export function readLock(file: string): Result<{ text: string; lock: ContractLock }, string> {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    return fail(code === "ENOENT" ? MISSING : `cannot be read: ${String(code)}`);
  }
  const parsed = parseLock(text);
  return parsed.ok ? ok({ text, lock: parsed.value }) : parsed;
}

/** Failure of readLock when the file does not exist. */
export const MISSING = "is missing";
