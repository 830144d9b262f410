import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { TOOL_CONTRACTS } from "../src/compose/tool-contracts.ts";
import { publishContract } from "../src/contracts/publish-contract.ts";
import {
  MISSING,
  parseLock,
  readLock,
  toLock,
  writeLock,
  type ContractLock,
} from "./contracts/contract-lock.ts";
import { mergeLocks, reviewLock, type Finding } from "./contracts/review-lock.ts";
import { countFindings, wordFindings } from "./contracts/word-findings.ts";

const LOCK_NAME = "contracts.lock.json";
const LOCK_FILE = join(import.meta.dirname, "..", LOCK_NAME);
const GUIDE = "docs/contracts.md";
const USAGE =
  "Usage: npm run contracts:check\n       npm run contracts:update [-- --accept-breaking]";

await main();

/** Holds the contracts in the code against the lock, or writes the lock anew. */
async function main(): Promise<void> {
  const { command, acceptBreaking } = readArguments();
  const current = await publishAll();
  if (command === "check") check(current);
  else update(current, acceptBreaking);
}

function check(current: ContractLock): void {
  const read = readLock(LOCK_FILE);
  if (!read.ok) return stop(`${LOCK_NAME} ${read.failure}; nothing was compared`);
  const findings = reviewLock(read.value.lock, current);
  print(wordFindings(findings));
  if (findings.some(isBreaking)) {
    console.log(`contracts: breaking changes under a version that is locked; see ${GUIDE}`);
    process.exitCode = 1;
  } else if (read.value.text !== writeLock(toLock(mergeLocks(read.value.lock, current)))) {
    console.log(`contracts: ${LOCK_NAME} is out of date; run npm run contracts:update`);
    process.exitCode = 1;
  } else {
    console.log(`contracts: as locked; ${countFindings(findings)}`);
  }
}

function update(current: ContractLock, acceptBreaking: boolean): void {
  const read = readLock(LOCK_FILE);
  if (!read.ok && read.failure !== MISSING) {
    return stop(`${LOCK_NAME} ${read.failure}; it stays as it is`);
  }
  const lock: ContractLock = read.ok ? read.value.lock : new Map();
  const findings = reviewLock(lock, current);
  print(wordFindings(findings));
  const breaking = findings.filter(isBreaking);
  if (breaking.length > 0 && !acceptBreaking) {
    console.log(
      `contracts: ${LOCK_NAME} stays as it is, for it would hide what breaks; see ${GUIDE}`,
    );
    process.exitCode = 1;
    return;
  }
  writeFileSync(LOCK_FILE, writeLock(toLock(mergeLocks(lock, current))));
  for (const { key } of breaking) console.log(`!!! BREAKING CHANGE ACCEPTED: ${key}`);
  console.log(`contracts: ${LOCK_NAME} written, ${current.size} versions in the code`);
}

function isBreaking({ kind }: Finding): boolean {
  return kind === "breaking" || kind === "missing";
}

/** What is compared is what a file would hold: no undefined, no -0. */
async function publishAll(): Promise<ContractLock> {
  const published = await Promise.all(TOOL_CONTRACTS.map((contract) => publishContract(contract)));
  const parsed = parseLock(writeLock(toLock(published)));
  if (!parsed.ok) throw new Error(`what the code publishes ${parsed.failure}`);
  return parsed.value;
}

function readArguments(): { command: "check" | "update"; acceptBreaking: boolean } {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { "accept-breaking": { type: "boolean", default: false } },
    });
    const [command, ...more] = positionals;
    const acceptBreaking = values["accept-breaking"];
    if (more.length > 0) return refuse(`${JSON.stringify(more[0])} is not understood.`);
    if (command === "update") return { command, acceptBreaking };
    if (command === "check" && !acceptBreaking) return { command, acceptBreaking };
    return refuse("check or update is needed; only update accepts a breaking change.");
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line);
}

function refuse(reason: string): never {
  return stop(`${reason}\n${USAGE}`);
}

function stop(reason: string): never {
  console.error(`contracts: ${reason}`);
  process.exit(2);
}
