import { parseArgs } from "node:util";
import { type Command, parsing, UsageError } from "../command.ts";
import { explainRun } from "../explain/explain-run.ts";
import { readRun } from "../explain/read-run.ts";
import { projectFolder } from "../project/folders.ts";
import {
  checkDeployment,
  DEPLOYMENT_OPTIONS,
  DEPLOYMENT_USAGE,
  openClient,
} from "../push/open-client.ts";

export const command: Command = {
  usage:
    "Usage: interlock explain RUN [--env NAME | --port N --as NAME] [--json]\n" +
    "Says what happened in a run: how it ended and why, and for each call which gate decided what,\n" +
    "who approved it, and how it ended. See docs/audit.md. It needs the scope audit:read.\n" +
    DEPLOYMENT_USAGE +
    "--json: the trace of the run and its audit records.",
  run: explain,
};

async function explain(args: string[]): Promise<void> {
  const options = { ...DEPLOYMENT_OPTIONS, json: { type: "boolean", default: false } } as const;
  const { values, positionals } = parsing(() =>
    parseArgs({ args, options, allowPositionals: true }),
  );
  const [runId, ...more] = positionals;
  if (runId === undefined || more.length > 0) throw new UsageError("One run's id is needed.");
  checkDeployment(values);
  const told = await readRun(openClient(projectFolder(), values), runId);
  if (values.json) console.log(JSON.stringify(told, null, 2));
  else for (const line of explainRun(told)) console.log(line);
}
