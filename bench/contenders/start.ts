import { join } from "node:path";
import { startTree, type ProcessTree } from "../../cli/development/process-tree.ts";
import type { HostReady } from "./host.ts";
import type { ContenderPlan } from "./plan.ts";

/** A process of the bench that accepts requests. */
export interface Running {
  readonly port: number;
  stop(): Promise<void>;
}

/** A Worker in its own workerd. */
export interface Contender extends Running, HostReady {
  readonly isAgent?: boolean;
}

const START_TIMEOUT_MS = 30_000;
const trees = new Set<ProcessTree>();

/** Starts the provider that every contender calls. */
export function startUpstream(): Promise<Running> {
  return startChild(join(import.meta.dirname, "../upstream/server.ts"), undefined);
}

/** Starts a Worker. `inspect` opens its inspector, which costs time. */
export async function startContender(plan: ContenderPlan, inspect = false): Promise<Contender> {
  const host = join(import.meta.dirname, "host.ts");
  const started = await startChild<HostReady>(host, { plan, inspect });
  return { ...started, ...(plan.isAgent && { isAgent: true }) };
}

/** Ends every process that still runs. Contract: idempotent. */
export async function stopAll(): Promise<void> {
  await Promise.all(Array.from(trees, (tree) => tree.stop()));
  trees.clear();
}

/** Starts a module in a process. The process sends one message with its port and more. */
async function startChild<Ready extends { readonly port: number }>(
  module: string,
  message: object | undefined,
): Promise<Ready & Running> {
  const tree = startTree(process.execPath, [module], {
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
  trees.add(tree);
  const timeout = AbortSignal.timeout(START_TIMEOUT_MS);
  const ready = await new Promise<Ready>((resolve, reject) => {
    tree.child.once("message", (value) => resolve(value as Ready));
    void tree.exited.then((code) => reject(new Error(`${module} ended with code ${code}`)));
    timeout.addEventListener("abort", () => reject(new Error(`${module} did not start`)));
    if (message) tree.child.send(message);
  });
  return {
    ...ready,
    async stop() {
      await tree.stop();
      trees.delete(tree);
    },
  };
}
