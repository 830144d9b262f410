import { existsSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { createDeployment } from "../../src/compose/deployment.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import type { DeploymentOptions } from "../../src/define-deployment.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { toLock, type ContractLock } from "../contracts/lock/contract-lock.ts";
import { LOCK_NAME, MISSING, readLock, writeLock } from "../contracts/lock/lock-folder.ts";
import { CommandError, type Command, parsing, UsageError } from "../command.ts";
import { readExchanges } from "../contracts/test/exchange-files.ts";
import { checkMigrations } from "../environment/check-migrations.ts";
import { projectFolder } from "../project/folders.ts";
import { loadDeployment } from "../project/load-deployment.ts";
import { compareWithLock, isBreaking, publishAll } from "../contracts/lock/compare-with-lock.ts";
import { mergeLocks, reviewLock } from "../contracts/lock/review-lock.ts";
import { countFindings, formatFindings } from "../contracts/lock/format-findings.ts";

const GUIDE = "docs/contracts.md";
const USAGE = [
  "Usage: interlock contracts check",
  "       interlock contracts update [--accept-breaking] [--forget TOOL ...]",
  "       interlock contracts test [--tool <id or id@version> ...] [--verbose]",
  "check compares the contracts with contracts.lock, update writes its files, test tries to",
  "break what each contract promises, and runs the migrations of the workspaces in memory.",
  "Exit code 1: a breaking change, a stale lock, a broken promise, a migration that fails.",
].join("\n");

interface Asked {
  readonly command: "check" | "update" | "test";
  readonly acceptBreaking: boolean;
  /** Tools or versions that are gone from the code. */
  readonly forgotten: readonly string[];
  /** Tools or versions to test; empty: all. */
  readonly only: readonly string[];
  readonly verbose: boolean;
}

const OPTIONS = {
  "accept-breaking": { type: "boolean", default: false },
  forget: { type: "string", multiple: true },
  tool: { type: "string", multiple: true },
  verbose: { type: "boolean", default: false },
} as const;

/** Which options each command takes. */
const COMMANDS: { readonly [Command in Asked["command"]]: readonly (keyof typeof OPTIONS)[] } = {
  check: [],
  update: ["accept-breaking", "forget"],
  test: ["tool", "verbose"],
};

export const command: Command = {
  usage: USAGE,
  run: runContracts,
};

/**
 * Holds the contracts in the code against the lock, writes the lock anew, or tests the contracts.
 */
async function runContracts(args: string[]): Promise<void> {
  const asked = readArguments(args);
  const project = projectFolder();
  try {
    const options = await loadDeployment(project);
    const { tools } = options;
    switch (asked.command) {
      case "check":
        return await check(tools, project);
      case "update":
        return update(await publishAll(tools), project, asked);
      case "test":
        return await test(asked, options, project);
    }
  } catch (error) {
    if (!(error instanceof Error) || error.name !== "ContractError") throw error;
    throw new CommandError(`contracts: ${error.message}; see docs/tools-authoring.md`);
  }
}

async function test(
  { only, verbose }: Asked,
  options: DeploymentOptions,
  project: string,
): Promise<void> {
  const { tools } = options;
  const namesOf = ({ name, version }: AnyToolContract): string[] => [name, `${name}@${version}`];
  const unknown = only.find((named) => !tools.some((tool) => namesOf(tool).includes(named)));
  if (unknown !== undefined) throw new UsageError(`there is no tool ${JSON.stringify(unknown)}.`);
  const chosen = tools.filter(
    (tool) => only.length === 0 || namesOf(tool).some((name) => only.includes(name)),
  );
  const exchanges = readExchanges(
    join(project, "src"),
    tools.map(({ name }) => name),
  );
  if (!exchanges.ok) return stop(exchanges.failure);
  const read = readLock(project);
  const lock = read.ok ? ok(read.value.lock) : fail(`${LOCK_NAME} ${read.failure}`);
  const definitions = createDeployment([], options).workspaces?.definitions ?? [];
  // What generates and validates is loaded only where it is used.
  const { testContracts } = await import("../contracts/test/test-contracts.ts");
  const { hostInTrials } = await import("../contracts/test/fake-workspaces.ts");
  hostInTrials(definitions);
  const request = { chosen, verbose, contracts: tools, lock, exchanges: exchanges.value };
  if (!(await testContracts(request))) process.exitCode = 1;
  for (const { level, place, message } of checkMigrations(definitions)) {
    console.log(`contracts: ${level}: ${place}: ${message}`);
    if (level === "error") process.exitCode = 1;
  }
}

async function check(tools: readonly AnyToolContract[], project: string): Promise<void> {
  const compared = await compareWithLock(tools, project);
  if (compared.kind === "unreadable") return stop(`${compared.reason}; nothing was compared`);
  print(formatFindings(compared.findings));
  if (compared.kind === "breaking") {
    console.log(`contracts: breaking changes under a version that is locked; see ${GUIDE}`);
    process.exitCode = 1;
  } else if (compared.kind === "stale") {
    console.log(`contracts: ${LOCK_NAME} is out of date; run npx interlock contracts update`);
    process.exitCode = 1;
  } else {
    console.log(`contracts: as locked; ${countFindings(compared.findings)}`);
  }
}

function update(
  current: ContractLock,
  project: string,
  { acceptBreaking, forgotten }: Pick<Asked, "acceptBreaking" | "forgotten">,
): void {
  const read = readLock(project);
  if (!read.ok && read.failure !== MISSING) {
    return stop(`${LOCK_NAME} ${read.failure}; it stays as it is`);
  }
  const lock: ContractLock = read.ok ? read.value.lock : new Map();
  const findings = reviewLock(lock, current);
  const gone = findings.filter(({ kind }) => kind === "missing").map(({ key }) => key);
  const forgets = chooseForgotten(gone, forgotten, project);
  const left = findings.filter(({ key }) => !forgets.has(key));
  print(formatFindings(left));
  const breaking = left.filter(isBreaking);
  if (breaking.length > 0 && !acceptBreaking) {
    console.log(
      `contracts: ${LOCK_NAME} stays as it is, for it would hide what breaks; see ${GUIDE}`,
    );
    offerToForget(gone, project);
    process.exitCode = 1;
    return;
  }
  writeLock(project, toLock(mergeLocks(lock, current)));
  for (const { key } of breaking) console.log(`!!! BREAKING CHANGE ACCEPTED: ${key}`);
  for (const key of forgets) console.log(`forgotten: ${key}; nothing keeps its promises any more`);
  console.log(`contracts: ${LOCK_NAME} written, ${current.size} versions in the code`);
}

/** The versions that `--forget` names. Fails: throws a UsageError for one that has to stay. */
function chooseForgotten(
  gone: readonly string[],
  names: readonly string[],
  project: string,
): ReadonlySet<string> {
  if (names.length > 0 && wasPushed(project)) {
    throw new UsageError(
      "--forget is for a project that was never deployed, and tenant/pushed says that this one " +
        `was. Retire the version instead: ${GUIDE}.`,
    );
  }
  const chosen = names.map((name) => {
    const keys = gone.filter((key) => key === name || key.startsWith(`${name}@`));
    if (keys.length > 0) return keys;
    const known = gone.join(", ") || "nothing";
    throw new UsageError(`--forget ${name}: only ${known} is gone from the code.`);
  });
  return new Set(chosen.flat());
}

/** A new project begins with the tools of its template. Its author may not want them. */
function offerToForget(gone: readonly string[], project: string): void {
  if (gone.length === 0 || wasPushed(project)) return;
  const tools = new Set(gone.map((key) => key.slice(0, key.lastIndexOf("@"))));
  const flags = [...tools].map((tool) => ` --forget ${tool}`).join("");
  console.log(
    "contracts: if this project was never deployed, nobody calls what is gone. Then forget it:\n" +
      `  npx interlock contracts update${flags}`,
  );
}

/** Each push leaves a record, which is committed. */
function wasPushed(project: string): boolean {
  return existsSync(join(project, "tenant/pushed"));
}

function readArguments(args: string[]): Asked {
  const { values, positionals } = parsing(() =>
    parseArgs({ args, allowPositionals: true, options: OPTIONS }),
  );
  const [command, ...more] = positionals;
  if (more.length > 0) throw new UsageError(`${JSON.stringify(more[0])} is not understood.`);
  if (!isCommand(command)) throw new UsageError("check, update or test is needed.");
  const allowed: readonly string[] = COMMANDS[command];
  const stray = Object.entries(values).find(
    ([name, value]) => value !== undefined && value !== false && !allowed.includes(name),
  );
  if (stray) throw new UsageError(`${command} takes no --${stray[0]}.`);
  const {
    "accept-breaking": acceptBreaking,
    forget: forgotten = [],
    tool: only = [],
    verbose,
  } = values;
  return { command, acceptBreaking, forgotten, only, verbose };
}

function isCommand(word: string | undefined): word is Asked["command"] {
  return word !== undefined && Object.hasOwn(COMMANDS, word);
}

function print(lines: readonly string[]): void {
  for (const line of lines) console.log(line);
}

/** Ends the command without a verdict. */
function stop(reason: string): void {
  console.error(`contracts: ${reason}`);
  process.exitCode = 2;
}
