import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";

/** Stands where one of the outputs of a command ends. */
export const END = "\u0000";

/** A command, for test/shared/command-host.ts. */
export interface Asked {
  readonly args: readonly string[];
  readonly cwd: string;
  readonly variables: NodeJS.ProcessEnv;
}

/** What a command printed, and how it ended. */
export interface CommandResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both, for what must not appear. */
  readonly all: string;
}

const idle: CommandHost[] = [];

/**
 * Runs `interlock` in a folder, without a standard input, and with these variables beside those of
 * this process. Most of a command's time is the start of its process, so commands share one; those
 * at the same time have one each. They end with the process of the tests.
 */
export async function runCommand(
  args: readonly string[],
  cwd: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<CommandResult> {
  const host = idle.pop() ?? new CommandHost();
  const result = await host.run({ args, cwd, variables: { ...process.env, ...variables } });
  idle.push(host);
  return result;
}

/** Runs `interlock` as a shell does: in a process of its own. */
export async function startCommand(
  args: readonly string[],
  cwd: string,
  variables: NodeJS.ProcessEnv = {},
): Promise<CommandResult> {
  const script = join(PACKAGE_FOLDER, "cli/interlock.ts");
  const env = { ...process.env, ...variables };
  const child = spawn(process.execPath, [script, ...args], { cwd, env });
  const exited = once(child, "exit");
  child.stdin.end();
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  const [exitCode] = await exited;
  return { exitCode: exitCode as number, stdout, stderr, all: stdout + stderr };
}

class CommandHost {
  readonly #process: ChildProcess;
  readonly #printed = { stdout: "", stderr: "" };
  #read = (): void => undefined;

  constructor() {
    const script = join(PACKAGE_FOLDER, "test/shared/command-host.ts");
    const stdio = ["ignore", "pipe", "pipe", "ipc"] as const;
    this.#process = spawn(process.execPath, [script], { stdio: [...stdio] });
    for (const name of ["stdout", "stderr"] as const) {
      this.#process[name]?.setEncoding("utf8").on("data", (chunk: string) => {
        this.#printed[name] += chunk;
        this.#read();
      });
    }
  }

  /** Fails: rejects when the process ends before the command does. */
  run(asked: Asked): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
      const ended = (): void => reject(new Error(`interlock ended: ${this.#printed.stderr}`));
      this.#process.once("exit", ended);
      this.#read = () => {
        const [stdout = "", code = "", ...rest] = this.#printed.stdout.split(END);
        const [stderr = "", ...more] = this.#printed.stderr.split(END);
        if (rest.length === 0 || more.length === 0) return;
        Object.assign(this.#printed, { stdout: "", stderr: "" });
        this.#process.off("exit", ended);
        resolve({ exitCode: Number(code), stdout, stderr, all: stdout + stderr });
      };
      this.#process.send(asked);
    });
  }
}
