import {
  createWriteStream,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { parseArgs } from "node:util";
import { CommandError, type Command, parsing, readNumber, UsageError } from "../command.ts";
import { exportRuns, formatEvaluate } from "../evaluate/export-runs.ts";
import { projectFolder } from "../project/folders.ts";
import { createClient, openAnswer } from "../push/deployment-client.ts";
import {
  checkDeployment,
  DEPLOYMENT_OPTIONS,
  DEPLOYMENT_USAGE,
  targetOf,
} from "../push/open-client.ts";

const MOST_RUNS = 10_000;

export const command: Command = {
  usage:
    "Usage: interlock export DIR [--last N] [--env NAME | --port N --as NAME]\n" +
    "Writes what interlock evaluate reads into the new folder DIR: the traces and replays of the\n" +
    "last N runs that ended (100), the contracts of their tools, and the whole audit log. It needs\n" +
    "the scopes audit:read, tools:read and runs:read_all. See docs/evaluation.md.\n" +
    DEPLOYMENT_USAGE +
    "Exit code 1: the deployment does not answer, or not this caller.",
  run: exportAll,
};

async function exportAll(args: string[]): Promise<void> {
  const options = { ...DEPLOYMENT_OPTIONS, last: { type: "string", default: "100" } } as const;
  const { values, positionals } = parsing(() =>
    parseArgs({ args, options, allowPositionals: true }),
  );
  const [folder, ...more] = positionals;
  if (folder === undefined || more.length > 0) throw new UsageError("One folder is needed.");
  checkDeployment(values);
  const last = readNumber("last", values.last, MOST_RUNS);
  const target = targetOf(projectFolder(), values);
  if (existsSync(folder) && !isEmptyFolder(folder)) {
    throw new CommandError(`${folder} is no empty folder. Name a new one: exports do not mix.`);
  }
  mkdirSync(folder, { recursive: true });
  const progress = (line: string): void => console.error(line);
  const write = (name: string, answer: object): void =>
    writeFileSync(join(folder, name), `${JSON.stringify(answer)}\n`);
  const lines = await exportRuns({ send: createClient(target), write, progress }, last);
  progress("the audit log");
  const log = await openAnswer(target, "/v1/audit?format=jsonl");
  const file = createWriteStream(join(folder, "audit.jsonl"));
  if (log.body) await pipeline(Readable.from(log.body), file);
  for (const line of lines) console.log(line);
  console.log(formatEvaluate(folder, log.headers));
}

function isEmptyFolder(path: string): boolean {
  return statSync(path).isDirectory() && readdirSync(path).length === 0;
}
