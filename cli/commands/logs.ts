import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { type Command, CommandError, messageOf, parsing, UsageError } from "../command.ts";
import { copyPretty } from "../development/pretty-log.ts";
import { mapFrames } from "../development/source-frames.ts";

export const command: Command = {
  usage:
    "Usage: interlock logs --map FILE   (the log on stdin)\n" +
    "Writes the lines of a deployment's log for people. Frames of errors name files and lines of your\n" +
    "sources: npx wrangler tail --env NAME --format pretty | npx interlock logs --map FILE\n" +
    "--map: the source map that wrangler deploy --outdir DIR wrote, DIR/index.js.map.",
  run: showLogs,
};

/** Copies the standard input. Every line that is none of the log stays as it is. */
function showLogs(args: string[]): void {
  const { values } = parsing(() => parseArgs({ args, options: { map: { type: "string" } } }));
  if (!values.map) throw new UsageError("--map is needed.");
  if (!existsSync(values.map)) throw new UsageError(`There is no file ${values.map}.`);
  copyPretty(process.stdin, process.stdout, { mapFrame: readMap(values.map) });
}

function readMap(file: string) {
  try {
    return mapFrames(file, process.cwd());
  } catch (error) {
    throw new CommandError(`${file} is no source map: ${messageOf(error)}`);
  }
}
