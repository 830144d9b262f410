import type { PublishedContract } from "../../../src/contracts/catalog/published-contract.ts";
import { compareVersions } from "../../../src/contracts/catalog/route-versions.ts";
import type { ContractChange } from "../diff/contract-change.ts";
import { toLock, type ContractLock } from "./contract-lock.ts";
import { diffContracts } from "../diff/diff-contracts.ts";

/** Changes of one tool version since it was locked. */
export type Finding =
  | { readonly kind: "same"; readonly key: string }
  /** Sunsetted and gone from the code; the lock keeps it, so that its number means nothing else. */
  | { readonly kind: "retired"; readonly key: string }
  | { readonly kind: "missing"; readonly key: string }
  | {
      readonly kind: "breaking" | "compatible";
      readonly key: string;
      readonly changes: readonly ContractChange[];
    }
  | { readonly kind: "new"; readonly key: string; readonly since: Since | null };

/** Changes of a new version against the version before. */
export interface Since {
  readonly version: string;
  readonly changes: readonly ContractChange[];
  /** It breaks callers, yet its first number does not say so. */
  readonly needsMajor: boolean;
}

/**
 * Compares the lock with the code, version by version. Contract: pure; in the order of the lock.
 */
export function reviewLock(lock: ContractLock, current: ContractLock): readonly Finding[] {
  const known = [...lock].map(([key, locked]) => reviewLocked(key, locked, current.get(key)));
  const all = [...toLock([...new Map([...lock, ...current]).values()]).values()];
  const fresh = [...current]
    .filter(([key]) => !lock.has(key))
    .map(([key, contract]): Finding => ({ kind: "new", key, since: sinceOf(contract, all) }));
  return [...known, ...fresh];
}

/** Returns the next lock: the contracts in the code, and the retired versions of the old lock. */
export function mergeLocks(
  lock: ContractLock,
  current: ContractLock,
): readonly PublishedContract[] {
  const retired = [...lock].filter(([key, locked]) => !current.has(key) && isRetired(locked));
  return [...current.values(), ...retired.map(([, locked]) => locked)];
}

function reviewLocked(
  key: string,
  locked: PublishedContract,
  current: PublishedContract | undefined,
): Finding {
  if (!current) return { kind: isRetired(locked) ? "retired" : "missing", key };
  const changes = diffContracts(locked, current);
  if (changes.length === 0) return { kind: "same", key };
  return { kind: changes.some(isBreaking) ? "breaking" : "compatible", key, changes };
}

function isRetired({ contract }: PublishedContract): boolean {
  return contract.identity.lifecycle.status === "sunsetted";
}

function isBreaking({ kind }: ContractChange): boolean {
  return kind === "breaking";
}

function sinceOf(contract: PublishedContract, all: readonly PublishedContract[]): Since | null {
  const { name, version } = contract.contract.identity;
  const previous = all
    .filter((other) => other.contract.identity.name === name)
    .findLast((other) => compareVersions(other.contract.identity.version, version) < 0);
  if (!previous) return null;
  const before = previous.contract.identity.version;
  const changes = diffContracts(inLifecycleOf(contract, previous), contract);
  const keepsMajor = majorOf(before) === majorOf(version);
  return { version: before, changes, needsMajor: keepsMajor && changes.some(isBreaking) };
}

/** Each version has its own lifecycle, so a different lifecycle is no change between versions. */
function inLifecycleOf(
  { contract }: PublishedContract,
  previous: PublishedContract,
): PublishedContract {
  const { lifecycle } = contract.identity;
  const identity = { ...previous.contract.identity, lifecycle };
  return { ...previous, contract: { ...previous.contract, identity } };
}

function majorOf(version: string): string | undefined {
  return version.split(".")[0];
}
