import { Miniflare } from "miniflare";
import { endWithParent, toWorkerConfig } from "../miniflare-worker.ts";
import type { Deployment } from "./deployment.ts";

/** What the host is told to run. */
export interface HostOrder {
  readonly deployment: Deployment;
  readonly port: number;
  /** Where state outlives the process. */
  readonly directory: string;
}

/** Runs a Worker in a workerd of its own, straight on a port; ends with its parent. */
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
