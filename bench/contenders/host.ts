import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Miniflare } from "miniflare";
import { endWithParent, toWorkerConfig } from "../../scripts/miniflare-worker.ts";
import { childrenOf } from "../process-usage.ts";
import type { ContenderPlan } from "./plan.ts";

/** Message of the host to its parent when the Worker accepts requests. */
export interface HostReady {
  readonly port: number;
  readonly workerdPid: number;
  readonly inspectorUrl: string | undefined;
  /** Folder of the databases of its objects. */
  readonly storagePath: string;
}

/**
 * Runs one Worker in its own workerd. Receives the plan as a message, and ends with its parent.
 * Requests go directly to the Worker's socket, past Miniflare's entry Worker.
 */
process.once("message", (message: { plan: ContenderPlan; inspect: boolean }) => {
  start(message.plan, message.inspect).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

async function start(plan: ContenderPlan, inspect: boolean): Promise<void> {
  const storagePath = mkdtempSync(join(tmpdir(), "storage-"));
  const config = toWorkerConfig("contender", { ...plan, kv: Object.keys(plan.kv) });
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    cf: false,
    telemetry: { enabled: false },
    // Kept until the bench ends: deleting thousands of files slows every fsync of a minute.
    resourcePersistencePath: storagePath,
    ...(inspect && { inspectorPort: 0, inspectorHost: "127.0.0.1" }),
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] } }],
  } as ConstructorParameters<typeof Miniflare>[0]);
  endWithParent(miniflare);
  await miniflare.ready;
  for (const [binding, entries] of Object.entries(plan.kv)) {
    const namespace = await miniflare.getKVNamespace(binding);
    for (const [key, value] of Object.entries(entries)) await namespace.put(key, value);
  }
  const [workerdPid] = childrenOf(process.pid);
  if (workerdPid === undefined) throw new Error("workerd does not run");
  const url = await miniflare.unsafeGetDirectURL("contender");
  const inspectorUrl = inspect ? String(await miniflare.getInspectorURL()) : undefined;
  const port = Number(url.port);
  process.send?.({ port, workerdPid, inspectorUrl, storagePath } satisfies HostReady);
}
