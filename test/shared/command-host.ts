import { inspect } from "node:util";
import { runCommand } from "../../cli/run-command.ts";
import { fillNode20 } from "../../src/testing/fill-node-20.ts";
import { END, type Asked } from "./command-process.ts";

/**
 * A process that runs one command of `interlock` after the other, each in its own folder and with
 * its own variables. After each it ends both outputs with END, the standard output with the exit
 * code before it.
 */
fillNode20();
process.on("message", (asked) => void run(asked as Asked));
process.on("disconnect", () => process.exit());

async function run({ args, cwd, variables }: Asked): Promise<void> {
  process.chdir(cwd);
  for (const name of Object.keys(process.env)) delete process.env[name];
  Object.assign(process.env, variables);
  process.exitCode = 0;
  await runCommand(args).catch((error: unknown) => {
    // As Node does where nobody catches.
    process.stderr.write(`${inspect(error)}\n`);
    process.exitCode = 1;
  });
  process.stderr.write(END);
  process.stdout.write(`${END}${process.exitCode}${END}`);
}
