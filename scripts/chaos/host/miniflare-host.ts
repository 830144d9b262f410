import { Miniflare } from "miniflare";
import { endWithParent, toWorkerConfig } from "../../miniflare-worker.ts";
import type { Deployment } from "./deployment.ts";

/** What the host runs. */
export interface HostOrder {
  readonly deployment: Deployment;
  readonly port: number;
  /** Directory of the state, which outlives the process. */
  readonly directory: string;
}

/** Runs a Worker in its own workerd, directly on a port. Ends with its parent. */
process.once("message", (order: HostOrder) => {
  start(order).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

async function start({ deployment, port, directory }: HostOrder): Promise<void> {
  const { assets, pages, ...worker } = deployment;
  const served =
    pages === undefined
      ? { emptyServices: [assets] }
      : { emptyServices: [], pages: { [assets]: pages } };
  const config = toWorkerConfig("chaos", { ...worker, ...served });
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    cf: false,
    telemetry: { enabled: false },
    resourcePersistencePath: directory,
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port }] } }],
  } as ConstructorParameters<typeof Miniflare>[0]);
  endWithParent(miniflare);
  await miniflare.ready;
  process.send?.("ready");
}
