import { spawn, type ChildProcess, type SpawnOptions } from "node:child_process";

const GRACE_MS = 5_000;

/** A child process that leads its own process group, so that all its descendants end with it. */
export interface ProcessTree {
  readonly child: ChildProcess;
  /** Resolves with the exit code when the child has exited. */
  readonly exited: Promise<number>;
  /** Ends the whole group: SIGTERM first, then SIGKILL. Contract: idempotent. */
  stop(): Promise<void>;
  /** Ends the whole group at once with SIGKILL. Contract: synchronous, idempotent. */
  kill(): void;
}

/** Starts a program as the leader of a new process group. */
export function startTree(command: string, args: string[], options: SpawnOptions): ProcessTree {
  const child = spawn(command, args, { ...options, detached: true });
  const exited = new Promise<number>((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => resolve(code ?? (signal ? 1 : 0)));
  });
  const signalGroup = (signal: NodeJS.Signals | 0): boolean => {
    try {
      return child.pid !== undefined && process.kill(-child.pid, signal);
    } catch {
      return false;
    }
  };
  return {
    child,
    exited,
    async stop() {
      signalGroup("SIGTERM");
      const deadline = Date.now() + GRACE_MS;
      while (signalGroup(0) && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      signalGroup("SIGKILL");
    },
    kill: () => void signalGroup("SIGKILL"),
  };
}
