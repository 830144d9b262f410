import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { readLines } from "../bounded-input.ts";
import {
  type Command,
  CommandError,
  messageOf,
  parsing,
  readNumber,
  UsageError,
} from "../command.ts";
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
    "last N runs that ended (100), the whole audit log, and the contracts of its tools. It needs\n" +
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
  const write = (name: string, answer: object): void =>
    writeFileSync(join(folder, name), `${JSON.stringify(answer)}\n`);
  let headers = new Headers();
  const writeLog = async function* (): AsyncGenerator<string> {
    const log = await openAnswer(target, "/v1/audit?format=jsonl");
    ({ headers } = log);
    yield* writeLines(join(folder, "audit.jsonl"), log);
  };
  const progress = (line: string): void => console.error(line);
  const ports = { send: createClient(target), write, writeLog, progress };
  for (const line of await exportRuns(ports, last)) console.log(line);
  console.log(formatEvaluate(folder, headers));
}

/** Writes an answer into a file, and hands on each line. Fails: throws where it breaks off. */
async function* writeLines(path: string, { body }: Response): AsyncGenerator<string> {
  const file = openSync(path, "w");
  try {
    for await (const line of body ? readLines(body) : []) {
      writeSync(file, `${line}\n`);
      yield line;
    }
  } catch (error) {
    throw new CommandError(`The log broke off: ${messageOf(error)}. Export it again.`);
  } finally {
    closeSync(file);
  }
}

function isEmptyFolder(path: string): boolean {
  return statSync(path).isDirectory() && readdirSync(path).length === 0;
}
