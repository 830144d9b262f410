import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { compareVersions } from "../../src/contracts/catalog/route-versions.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { type Command, CommandError, parsing, UsageError, readNumber } from "../command.ts";
import { projectFolder } from "../project/folders.ts";
import { loadDeployment } from "../project/load-deployment.ts";
import {
  checkDeployment,
  DEPLOYMENT_OPTIONS,
  DEPLOYMENT_USAGE,
  type DeploymentValues,
  openClient,
} from "../push/open-client.ts";
import { checkRow, readRows, type Row, type WrongLine } from "../seed/read-rows.ts";
import { openSeedRecord, type SeedRecord } from "../seed/seed-record.ts";
import { sendRow, type RowOutcome, type SeedTarget } from "../seed/send-row.ts";

export const command: Command = {
  usage:
    "Usage: interlock seed FILE --tool ID [--workspace ID] [--env NAME | --port N --as NAME] [--batch N]\n" +
    "Loads rows through a tool: each line of FILE is the JSON of its arguments. All lines are\n" +
    "checked by the tool's input schema before the first is sent. Each row is a direct call with a\n" +
    "key of its content, so that the command can be repeated, also after a crash, and loads no row\n" +
    "twice. FILE.NAME.seeded records what was loaded. See docs/business-data.md.\n" +
    DEPLOYMENT_USAGE +
    "--batch: rows on their way at the same time (8). 1 keeps the order of the file.\n" +
    "Exit code 1: a row was not loaded. The output says which, and why.",
  run: seed,
};

interface Asked {
  readonly file: string;
  readonly toolId: string;
  readonly workspaceId: string | undefined;
  readonly deployment: DeploymentValues;
  readonly batch: number;
}

const MAX_WRONG_LINES = 20;
const PAUSE_MS = 1_000;

/** Checks all rows, then sends those that were not loaded before, batch by batch. */
async function seed(args: string[]): Promise<void> {
  const asked = readArguments(args);
  const { file } = asked;
  const project = projectFolder();
  const { tools } = await loadDeployment(project);
  const total = await checkRows(file, findContract(tools, asked.toolId));
  const target = openTarget(asked, project);
  const record = openSeedRecord(`${file}.${asked.deployment.env ?? "development"}.seeded`);
  const told = await loadRows({ asked, target, record, total });
  console.log(`${told.loaded} rows loaded, ${told.before} were loaded before, of ${total}.`);
  if (told.stopped) process.exitCode = 1;
}

interface Loading {
  readonly asked: Asked;
  readonly target: SeedTarget;
  readonly record: SeedRecord;
  readonly total: number;
}

/** Sends the rows. Stops after the first batch with a row that was not loaded. */
async function loadRows({ asked, target, record, total }: Loading) {
  const counts = { loaded: 0, before: 0, stopped: false };
  let batch: Row[] = [];
  const flush = async (): Promise<void> => {
    const sent = batch;
    batch = [];
    const outcomes = await Promise.all(
      sent.map((row) => sendRow(row, record.refusals(row.name), target)),
    );
    for (const [index, row] of sent.entries()) {
      const outcome = outcomes[index];
      if (!outcome) continue;
      noteOutcome(record, row, outcome);
      if (outcome.kind === "loaded") counts.loaded++;
      else {
        counts.stopped = true;
        console.error(`${asked.file}:${row.line}: ${outcome.why}`);
      }
    }
    const done = counts.loaded + counts.before;
    if (!counts.stopped && done < total) console.error(`${done} of ${total} rows`);
  };
  for await (const row of readRows(asked.file)) {
    if (!("name" in row)) continue;
    if (record.isLoaded(row.name)) counts.before++;
    else batch.push(row);
    if (batch.length === asked.batch) await flush();
    if (counts.stopped) return counts;
  }
  if (batch.length > 0) await flush();
  return counts;
}

function noteOutcome(record: SeedRecord, { name }: Row, { kind }: RowOutcome): void {
  if (kind !== "open") record.note(kind, name);
}

/** Counts the rows. Fails: throws a CommandError with the wrong lines; then nothing was sent. */
async function checkRows(file: string, contract: AnyToolContract): Promise<number> {
  const wrong: WrongLine[] = [];
  let total = 0;
  for await (const row of readRows(file)) {
    total++;
    wrong.push(...("name" in row ? checkRow(row, contract) : [row]));
    if (wrong.length >= MAX_WRONG_LINES) break;
  }
  if (wrong.length === 0) return total;
  const lines = wrong.map(({ line, problem }) => `${file}:${line}: ${problem}`);
  throw new CommandError(`${lines.join("\n")}\nNothing was sent.`);
}

/** The newest version, which a tenant uses unless its policy names another one. */
function findContract(tools: readonly AnyToolContract[], toolId: string): AnyToolContract {
  const versions = registerContracts(tools)
    .map(({ contract }) => contract)
    .filter(({ name }) => name === toolId)
    .toSorted((a, b) => compareVersions(a.version, b.version));
  const newest = versions.at(-1);
  if (newest) return newest;
  throw new UsageError(`--tool: there is no tool ${JSON.stringify(toolId)}.`);
}

function openTarget({ toolId, workspaceId, deployment }: Asked, project: string): SeedTarget {
  const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  return { send: openClient(project, deployment), toolId, workspaceId, pause };
}

function readArguments(args: string[]): Asked {
  const text = { type: "string" } as const;
  const options = { ...DEPLOYMENT_OPTIONS, tool: text, workspace: text, batch: text };
  const { values, positionals } = parsing(() =>
    parseArgs({ args, options, allowPositionals: true }),
  );
  const [file, ...more] = positionals;
  if (file === undefined || more.length > 0) throw new UsageError("One file is needed.");
  if (!existsSync(file)) throw new UsageError(`There is no file ${file}.`);
  if (!values.tool) throw new UsageError("--tool is needed: the id of the tool that takes a row.");
  checkDeployment(values);
  return {
    file,
    toolId: values.tool,
    workspaceId: values.workspace,
    deployment: values,
    batch: readNumber("batch", values.batch ?? "8", 64),
  };
}
