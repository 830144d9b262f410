import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import { experimental_readRawConfig as readRawConfig } from "wrangler";
import { freePort } from "../../../cli/development/free-port.ts";
import { startTree, type ProcessTree } from "../../../cli/development/process-tree.ts";
import { seedPolicies, type Deployment } from "./deployment.ts";
import type { HostOrder } from "./miniflare-host.ts";
import type { PartContext } from "../part.ts";
import { sleep } from "../sleep.ts";

/** A deployment that can be killed and started again on its stored state. */
export interface Host {
  readonly url: string;
  /** Starts the deployment and waits until it answers. */
  start(): Promise<void>;
  /** Kills every process of the deployment at once. */
  kill(): void;
  /** Waits until the killed processes are gone. */
  gone(): Promise<void>;
  stop(): Promise<void>;
}

type Prepare = (url: string) => Promise<void>;

const START_TIMEOUT_MS = 60_000;

/** The chaos Worker in Miniflare. */
export function miniflareHost(deployment: Deployment, directory: string): Promise<Host> {
  return hostWorker(deployment, directory, seedPolicies);
}

/** Runs `use` on a chaos Worker that stores in a new directory, and stops the Worker afterwards. */
export async function withHost<T>(
  { deployment, makeDirectory }: Pick<PartContext, "deployment" | "makeDirectory">,
  use: (host: Host) => Promise<T>,
): Promise<T> {
  const host = await miniflareHost(deployment, makeDirectory());
  await host.start();
  try {
    return await use(host);
  } finally {
    await host.stop();
  }
}

/** Runs any Worker in Miniflare, in its own process group. `prepare` runs after each start. */
export function hostWorker(
  deployment: Deployment,
  directory: string,
  prepare: Prepare,
): Promise<Host> {
  return hostOf(prepare, (port) => {
    const tree = startTree(process.execPath, [join(import.meta.dirname, "miniflare-host.ts")], {
      stdio: ["ignore", "inherit", "ignore", "ipc"],
    });
    tree.child.send({ deployment, port, directory } satisfies HostOrder);
    return tree;
  });
}

/**
 * Runs the Worker under `wrangler dev`, with all its processes. It has no rate limits, because the
 * clients of many runs are one caller.
 */
export function wranglerHost(deployment: Deployment, directory: string): Promise<Host> {
  const config = writeUnlimitedConfig(directory);
  const variables = Object.entries(deployment.texts).flatMap(([name, value]) => [
    "--var",
    `${name}:${value}`,
  ]);
  return hostOf(seedPolicies, (port) => {
    const args = [
      resolve("node_modules/wrangler/bin/wrangler.js"),
      "dev",
      deployment.entry,
      `--config=${config}`,
      "--local",
      "--ip=127.0.0.1",
      `--port=${port}`,
      "--inspector-port=0",
      `--persist-to=${directory}`,
      "--log-level=error",
      "--show-interactive-dev-session=false",
      ...variables,
    ];
    const quiet = { CLOUDFLARE_CF_FETCH_ENABLED: "false", WRANGLER_SEND_METRICS: "false" };
    const env = { ...process.env, ...quiet };
    return startTree(process.execPath, args, { stdio: "ignore", env });
  });
}

/** Writes wrangler.toml without rate limits into `directory`; answers the path of the file. */
function writeUnlimitedConfig(directory: string): string {
  const { rawConfig } = readRawConfig({ config: resolve("wrangler.toml") });
  const { ratelimits: _limits, build: _build, main: _main, ...kept } = rawConfig;
  const pages = resolve(kept.assets?.directory ?? ".");
  const config = join(directory, "wrangler.json");
  const hosted = "WorkspaceObject";
  const bindings: readonly { readonly class_name: string }[] = kept.durable_objects?.bindings ?? [];
  const others = bindings.filter(({ class_name: name }) => name !== hosted);
  const unlimited = {
    ...kept,
    assets: { ...kept.assets, directory: pages },
    // The product's own configuration may have no workspaces.
    durable_objects: { bindings: [...others, { name: "WORKSPACES", class_name: hosted }] },
    exports: { ...kept.exports, [hosted]: { type: "durable-object", storage: "sqlite" } },
  };
  writeFileSync(config, JSON.stringify(unlimited));
  return config;
}

/** Keeps one port over all starts, as a real deployment keeps its address. */
async function hostOf(prepare: Prepare, launch: (port: number) => ProcessTree): Promise<Host> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let tree: ProcessTree | undefined;
  return {
    url,
    async start() {
      await untilFree(port);
      tree = launch(port);
      await answers(url, tree);
      await prepare(url);
    },
    kill: () => tree?.kill(),
    async gone() {
      while (tree?.child.pid !== undefined && isGroupAlive(tree.child.pid)) await sleep(10);
    },
    stop: async () => tree?.stop(),
  };
}

/** Looks for a living process of the group. Zombies hold no files and no ports. Needs Linux. */
function isGroupAlive(group: number): boolean {
  return readdirSync("/proc").some((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
      const [state, , owner] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
      return Number(owner) === group && state !== "Z";
    } catch {
      return false;
    }
  });
}

async function answers(url: string, tree: ProcessTree): Promise<void> {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadlineMs && tree.child.exitCode === null) {
    try {
      const answer = await fetch(`${url}/healthz`);
      await answer.arrayBuffer();
      if (answer.ok) return;
    } catch {
      // Not listening yet.
    }
    await sleep(25);
  }
  const { exitCode } = tree.child;
  const reason = exitCode === null ? "did not answer in time" : `exited with code ${exitCode}`;
  throw new Error(`the host ${reason}`);
}

/**
 * Waits until a port can be bound. After a kill, a connection of another process may hold the port
 * for a moment, and a host that finds it taken exits.
 */
async function untilFree(port: number): Promise<void> {
  const deadlineMs = Date.now() + START_TIMEOUT_MS;
  while (!(await canListen(port))) {
    if (Date.now() > deadlineMs) throw new Error(`port ${port} stays in use`);
    await sleep(25);
  }
}

function canListen(port: number): Promise<boolean> {
  return new Promise((answer) => {
    const server = createServer().once("error", () => answer(false));
    server.listen(port, "127.0.0.1", () => server.close(() => answer(true)));
  });
}
