import * as v from "valibot";
import { compareVersions } from "../../../src/contracts/catalog/route-versions.ts";
import type { PublishedContract } from "../../../src/contracts/catalog/published-contract.ts";
import type { JsonObject, JsonValue } from "../../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../../src/protocol/outcome/result.ts";
import { LIFECYCLE_STATUSES } from "../../../src/protocol/tool/lifecycle.ts";
import { formatJson, joinParts, splitParts } from "./lock-parts.ts";

/** The published contract of every version, by `<tool>@<version>`, in the order of the tools. */
export type ContractLock = ReadonlyMap<string, PublishedContract>;

/**
 * Texts of a lock's files, by their paths within the lock's folder: `<tool>@<version>.json`, and
 * `parts/<hash>.json`.
 */
export type LockFiles = ReadonlyMap<string, string>;

const PARTS = "parts/";

/** Fields that name and order an entry. All other fields are compared one by one. */
const lockedContract = v.strictObject({
  contract: v.looseObject({
    identity: v.looseObject({
      name: v.string(),
      version: v.pipe(v.string(), v.regex(/^\d+\.\d+\.\d+$/)),
      lifecycle: v.looseObject({ status: v.picklist(LIFECYCLE_STATUSES) }),
    }),
    affordance: v.looseObject({ input_schema: v.looseObject({}) }),
  }),
  interlock: v.looseObject({}),
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

/** Formats the files of a lock. Contract: the same contracts give the same texts. */
export function formatLock(lock: ContractLock): LockFiles {
  const parts = new Map<string, string>();
  const files = new Map<string, string>();
  for (const [key, published] of lock) {
    // What is published is JSON; its type names its fields, and has no index.
    const entry = published as unknown as JsonObject;
    files.set(`${key}.json`, formatJson(splitParts(entry, parts)));
  }
  for (const [hash, text] of parts) files.set(`${PARTS}${hash}.json`, text);
  return files;
}

/** Parses the files of a lock. Fails: with the file and the reason as text. */
export function parseLock(files: LockFiles): Result<ContractLock, string> {
  const parts = new Map<string, string>();
  for (const [path, text] of files) {
    if (path.startsWith(PARTS)) parts.set(path.slice(PARTS.length, -".json".length), text);
  }
  const contracts: PublishedContract[] = [];
  for (const [path, text] of files) {
    if (path.startsWith(PARTS)) continue;
    const parsed = parseEntry(text, parts);
    if (!parsed.ok) return fail(`${path} ${parsed.failure}`);
    const key = keyOf(parsed.value);
    if (path !== `${key}.json`) return fail(`${path} holds ${key}`);
    contracts.push(parsed.value);
  }
  return ok(toLock(contracts));
}

function parseEntry(
  text: string,
  parts: ReadonlyMap<string, string>,
): Result<PublishedContract, string> {
  let entry: JsonValue;
  try {
    entry = JSON.parse(text) as JsonValue;
  } catch (error) {
    return fail(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  try {
    entry = joinParts(entry, parts);
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
  const parsed = v.safeParse(lockedContract, entry);
  // Keeps the entry itself, because valibot's copy drops keys such as __proto__.
  if (parsed.success) return ok(entry as unknown as PublishedContract);
  const [issue] = parsed.issues;
  const place = v.getDotPath(issue);
  return fail(`is no locked contract: ${place === null ? "" : `${place}: `}${issue.message}`);
}
