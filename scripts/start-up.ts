import type { ChildProcess } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { startTree } from "../cli/development/process-tree.ts";

const STARTS = 9;
const START_TIMEOUT_MS = 10_000;
const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
/** File descriptor on which workerd reports its port. */
const CONTROL_FD = 3;

/** A bundle and its required bindings. */
export interface StartableWorker {
  readonly code: string;
  readonly compatibilityDate: string;
  readonly texts: Readonly<Record<string, string>>;
  /** Class of each Durable Object by the name of its binding. */
  readonly objects: Readonly<Record<string, string>>;
  /** Names of KV namespaces. They are empty. */
  readonly kv: readonly string[];
  /** Names of services. They answer 404. */
  readonly services: readonly string[];
}

/** What it takes from the start of the process to the first answer. */
export interface Start {
  readonly elapsedMs: number;
  /** From the start of the process until it listens. */
  readonly askedMs: number;
  /** Processor time of all threads. Another process on the machine hardly changes it. */
  readonly cpuMs: number;
}

/** Starts workerd on each Worker in turn, several times. Returns the medians. */
export async function measureStarts<Name extends string>(
  workers: Readonly<Record<Name, StartableWorker>>,
): Promise<Record<Name, Start>> {
  const names = Object.keys(workers) as Name[];
  const starts = new Map<Name, Start[]>(names.map((name) => [name, []]));
  for (let round = 0; round < STARTS; round++) {
    for (const name of names) starts.get(name)?.push(await measureStart(workers[name]));
  }
  return Object.fromEntries(
    Array.from(starts, ([name, measured]): [Name, Start] => [name, medianOf(measured)]),
  ) as Record<Name, Start>;
}

function medianOf(starts: readonly Start[]): Start {
  const of = (field: keyof Start): number => median(starts.map((start) => start[field]));
  return { elapsedMs: of("elapsedMs"), askedMs: of("askedMs"), cpuMs: of("cpuMs") };
}

/** Measures one start of workerd, until `ask` is answered. Without one, it asks `GET /healthz`. */
export async function measureStart(
  worker: StartableWorker,
  ask: (port: number) => Promise<void> = askHealth,
): Promise<Start> {
  const scratch = mkdtempSync(join(tmpdir(), "interlock-start-"));
  try {
    return await start(writeConfig(join(scratch, "worker.capnp"), worker), ask);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

async function askHealth(port: number): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${port}/healthz`);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`the Worker answered with ${answer.status}`);
}

async function start(config: string, ask: (port: number) => Promise<void>): Promise<Start> {
  const startMs = performance.now();
  const workerd = startTree(findWorkerd(), ["serve", config, `--control-fd=${CONTROL_FD}`], {
    stdio: ["ignore", "ignore", "inherit", "pipe"],
  });
  const stopOnSignal = (): void => void workerd.stop().finally(() => process.exit(1));
  for (const signal of SIGNALS) process.once(signal, stopOnSignal);
  try {
    const port = await readPort(workerd.child);
    const askedMs = performance.now() - startMs;
    await ask(port);
    const elapsedMs = performance.now() - startMs;
    return { elapsedMs, askedMs, cpuMs: readCpuMs(workerd.child.pid) };
  } finally {
    await workerd.stop();
    for (const signal of SIGNALS) process.off(signal, stopOnSignal);
  }
}

/** Reads the processor time of a process from /proc. NaN where there is none. Unit: ms. */
function readCpuMs(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return Number.NaN;
  return readdirSync(tasks)
    .map((task) => readFileSync(`${tasks}/${task}/schedstat`, "utf8"))
    .reduce((sum, stat) => sum + Number.parseInt(stat, 10) / 1e6, 0);
}

async function readPort(child: ChildProcess): Promise<number> {
  const control = child.stdio[CONTROL_FD] as Readable;
  const timer = setTimeout(
    () => control.destroy(new Error("workerd says nothing")),
    START_TIMEOUT_MS,
  );
  try {
    for await (const line of control) {
      const message = JSON.parse(String(line)) as { event: string; port?: number };
      if (message.event === "listen" && message.port !== undefined) return message.port;
    }
  } finally {
    clearTimeout(timer);
  }
  throw new Error("workerd ended before it listened");
}

/** Finds the workerd program that miniflare depends on. The package exports its path. */
function findWorkerd(): string {
  const fromMiniflare = createRequire(createRequire(import.meta.url).resolve("miniflare"));
  return (fromMiniflare("workerd") as { readonly default: string }).default;
}

/** Writes the configuration of workerd: one Worker, its bindings, and a free loopback port. */
function writeConfig(path: string, worker: StartableWorker): string {
  const { code, compatibilityDate, texts, objects, kv, services } = worker;
  const quote = JSON.stringify;
  const bindings = [
    ...Object.entries(texts).map(([name, text]) => [name, `text = ${quote(text)}`]),
    ...Object.entries(objects).map(([name, type]) => [
      name,
      `durableObjectNamespace = ${quote(type)}`,
    ]),
    ...kv.map((name) => [name, `kvNamespace = "nothing"`]),
    ...services.map((name) => [name, `service = "nothing"`]),
  ].map(([name, value]) => `(name = ${quote(name)}, ${value})`);
  const namespaces = Object.values(objects).map((type) => {
    const uniqueKey = createHash("sha256").update(type).digest("hex");
    return `(className = ${quote(type)}, uniqueKey = ${quote(uniqueKey)}, enableSql = true)`;
  });
  const nothing = `addEventListener("fetch", (event) => event.respondWith(new Response(null, { status: 404 })));`;
  writeFileSync(`${path}.js`, code);
  writeFileSync(
    path,
    `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "index.js", esModule = embed ${quote(`${path.split("/").at(-1)}.js`)})],
      compatibilityDate = ${quote(compatibilityDate)},
      bindings = [${bindings.join(", ")}],
      durableObjectNamespaces = [${namespaces.join(", ")}],
      durableObjectStorage = (localDisk = "objects"),
    )),
    (name = "objects", disk = (path = ${quote(dirname(path))}, writable = true)),
    (name = "internet", network = (allow = ["public", "private"])),
    (name = "nothing", worker = (
      serviceWorkerScript = ${quote(nothing)}, compatibilityDate = ${quote(compatibilityDate)},
    )),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`,
  );
  return path;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}
