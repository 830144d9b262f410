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
  const { assets, hosts, pages, ...worker } = deployment;
  const served =
    pages === undefined
      ? { emptyServices: [assets] }
      : { emptyServices: [], pages: { [assets]: pages } };
  const config = toWorkerConfig("chaos", { ...worker, ...served });
  const unsafeDirectSockets = [{ host: "127.0.0.1", port }];
  const miniflare = new Miniflare({
    host: "127.0.0.1",
    cf: false,
    telemetry: { enabled: false },
    resourcePersistencePath: directory,
    workers: [{ config, dev: { unsafeDirectSockets, ...(hosts && answerFor(hosts)) } }],
  } as ConstructorParameters<typeof Miniflare>[0]);
  endWithParent(miniflare);
  await miniflare.ready;
  process.send?.("ready");
}

/** Resolves the names to a public address, and sends what goes there to the loopback addresses. */
function answerFor(hosts: Readonly<Record<string, string>>): object {
  const handler = async (request: Request): Promise<Response> => {
    const { host, pathname, search, searchParams } = new URL(request.url);
    if (host === "cloudflare-dns.com") {
      const isKnown = searchParams.get("type") === "A" && (searchParams.get("name") ?? "") in hosts;
      const Answer = isKnown ? [{ type: 1, data: "93.184.215.14" }] : [];
      return Response.json({ Status: 0, Answer });
    }
    const { method, headers } = request;
    const body = method === "GET" || method === "HEAD" ? undefined : await request.arrayBuffer();
    const url = host in hosts ? `${hosts[host]}${pathname}${search}` : request.url;
    return fetch(url, { method, headers, ...(body && { body }), redirect: "manual" });
  };
  return { outboundService: { type: "fetcher", handler } };
}
