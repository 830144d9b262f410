import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { CommandError, type Command, parsing, UsageError } from "../command.ts";
import { evaluateRuns, formatReports } from "../evaluate/evaluate-runs.ts";
import { verifyExport } from "../evaluate/evaluated-runs.ts";

export const command: Command = {
  usage:
    "Usage: interlock evaluate --runs DIR [--head HASH] [--known HASH] [--key KEY] [--json]\n" +
    "Looks at recorded runs in the 12 test modes of a tool contract. DIR holds audit.jsonl, and\n" +
    "what there is of *.trace.json, *.replay.json and *.tool.json; see docs/evaluation.md.\n" +
    "--head, --known, --key: as of interlock audit verify.\n" +
    "--json: the reports as JSON. Exit code 1: a fault was found, or the export is refused.",
  run: evaluate,
};

async function evaluate(args: string[]): Promise<void> {
  const text = { type: "string" } as const;
  const options = { runs: text, head: text, known: text, key: text } as const;
  const { values } = parsing(() =>
    parseArgs({ args, options: { ...options, json: { type: "boolean", default: false } } }),
  );
  const { runs: folder, json, ...anchors } = values;
  if (folder === undefined) throw new UsageError("--runs names the folder of the export.");
  const log = join(folder, "audit.jsonl");
  if (!existsSync(log)) {
    throw new CommandError(`no_log: ${log} is missing. Export it with GET /v1/audit?format=jsonl.`);
  }
  const filesOf = (ending: string): ReadonlyMap<string, string> =>
    new Map(
      readdirSync(folder)
        .filter((name) => name.endsWith(ending))
        .map((name) => [name, readFileSync(join(folder, name), "utf8")]),
    );
  const verified = await verifyExport(
    {
      log: readFileSync(log, "utf8").split("\n").filter(Boolean),
      traces: filesOf(".trace.json"),
      replays: filesOf(".replay.json"),
      contracts: filesOf(".tool.json"),
    },
    anchors,
  );
  if (!verified.ok) throw new CommandError(`${verified.failure.code}: ${verified.failure.message}`);
  const reports = evaluateRuns(verified.value);
  if (json) console.log(JSON.stringify(reports, null, 2));
  else for (const line of formatReports(reports)) console.log(line);
  if (reports.some(({ faults }) => faults.length > 0)) process.exitCode = 1;
}
