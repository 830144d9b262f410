import type { AnyToolContract } from "../../../src/contracts/define/definition.ts";
import { publishContract } from "../../../src/contracts/catalog/published-contract.ts";
import { registerContracts } from "../../../src/contracts/check/register.ts";
import {
  formatLock,
  parseLock,
  toLock,
  type ContractLock,
  type LockFiles,
} from "./contract-lock.ts";
import { LOCK_NAME, lockFiles, readLock } from "./lock-folder.ts";
import { mergeLocks, reviewLock, type Finding } from "./review-lock.ts";

/** How the contracts of the code stand to their lock. */
export type LockComparison =
  | { readonly kind: "unreadable"; readonly reason: string }
  | {
      /** `breaking`: a locked version changed for its callers. `stale`: the lock is older. */
      readonly kind: "breaking" | "stale" | "same";
      readonly findings: readonly Finding[];
    };

/**
 * Compares contracts with the lock of a project. Fails: throws a ContractError for a refused
 * contract.
 */
export async function compareWithLock(
  tools: readonly AnyToolContract[],
  project: string,
): Promise<LockComparison> {
  const current = await publishAll(tools);
  const read = readLock(project);
  if (!read.ok) return { kind: "unreadable", reason: `${LOCK_NAME} ${read.failure}` };
  const findings = reviewLock(read.value.lock, current);
  if (findings.some(isBreaking)) return { kind: "breaking", findings };
  const next = lockFiles(project, toLock(mergeLocks(read.value.lock, current)));
  return { kind: areSame(read.value.files, next) ? "same" : "stale", findings };
}

export function isBreaking({ kind }: Finding): boolean {
  return kind === "breaking" || kind === "missing";
}

function areSame(a: LockFiles, b: LockFiles): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}

/** What is compared is what a file would hold: no undefined, no -0. */
export async function publishAll(tools: readonly AnyToolContract[]): Promise<ContractLock> {
  const published = await Promise.all(registerContracts(tools).map(publishContract));
  const parsed = parseLock(formatLock(toLock(published)));
  if (!parsed.ok) throw new Error(`what the code publishes ${parsed.failure}`);
  return parsed.value;
}
