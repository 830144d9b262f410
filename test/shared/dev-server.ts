import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "../../cli/development/free-port.ts";

/** The product as `npm run dev` starts it. */
export interface DevServer {
  readonly url: string;
  /** What it printed so far. */
  readonly output: () => string;
  readonly process: ChildProcess;
  /** Sends a signal and resolves with the exit code. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Processes that still carry this server's state directory in their arguments. */
  survivors(): readonly string[];
  /** Port of the platform's local server, behind the one of development. */
  innerPort(): number;
  /** Kills the runtime that receives the requests of that port. */
  killRuntime(): void;
}

/**
 * Runs `npm run dev` on a free port with state of its own, and waits until it says that it is
 * ready.
 */
export async function startDev(environment: NodeJS.ProcessEnv = {}): Promise<DevServer> {
  const port = await freePort();
  const state = mkdtempSync(join(tmpdir(), "interlock-e2e-"));
  const providers = /^(?:OPENAI|ANTHROPIC)_/;
  const inherited = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !providers.test(name)),
  );
  const child = spawn("npm", ["run", "dev", "--", "--port", String(port), "--persist-to", state], {
    env: { ...inherited, ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  await new Promise<void>((resolve, reject) => {
    const read = (chunk: Buffer): void => {
      output += chunk.toString();
      if (output.includes("Interlock is ready")) resolve();
    };
    child.stdout.on("data", read);
    child.stderr.on("data", read);
    void exited.then(() => reject(new Error(`npm run dev ended: ${output}`)));
  });
  return {
    url: `http://127.0.0.1:${port}`,
    output: () => output,
    process: child,
    async end(signal) {
      child.kill(signal);
      const code = await exited;
      rmSync(state, { recursive: true, force: true });
      return code;
    },
    survivors: () => processesNaming(state).map(({ command }) => command),
    innerPort,
    killRuntime() {
      for (const { pid } of processesNaming(`entry=127.0.0.1:${innerPort()}`)) {
        process.kill(pid, "SIGKILL");
      }
    },
  };

  function innerPort(): number {
    const commands = processesNaming(state).map(({ command }) => command);
    return Number(/--port=(\d+)/.exec(commands.join(" "))?.[1]);
  }
}

/** Processes that have a text in their command line, without this one. */
export function processesNaming(text: string): readonly { pid: number; command: string }[] {
  return readdirSync("/proc").flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      return command.includes(text) ? [{ pid: Number(pid), command }] : [];
    } catch {
      return [];
    }
  });
}
