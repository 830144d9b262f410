import { Miniflare } from "miniflare";
import type { Deployment } from "./deployment.ts";

/** What the host is told to run. */
export interface HostOrder {
  readonly deployment: Deployment;
  readonly port: number;
  /** Where state outlives the process. */
  readonly directory: string;
}

/** Runs the chaos Worker in a workerd of its own, straight on a port; ends with its parent. */
process.once("message", (order: HostOrder) => {
  start(order).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

async function start(order: HostOrder): Promise<void> {
  const miniflare = new Miniflare(toOptions(order));
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void miniflare.dispose().finally(() => process.exit());
  };
  process.on("disconnect", stop);
  process.on("SIGTERM", stop);
  await miniflare.ready;
  process.send?.("ready");
}

type Options = ConstructorParameters<typeof Miniflare>[0];

function toOptions({ deployment, port, directory }: HostOrder): Options {
  const { code, compatibilityDate, texts, objects, kv, assets } = deployment;
  const bind = <T>(values: Readonly<Record<string, T>>, toBinding: (value: T) => object) =>
    Object.entries(values).map(([name, value]) => [name, toBinding(value)] as const);
  const env = Object.fromEntries([
    ...bind(texts, (value) => ({ type: "text", value })),
    ...bind(objects, (exportName) => ({ type: "durable-object", worker: "chaos", exportName })),
    ...kv.map((id) => [id, { type: "kv", id }] as const),
    [assets, { type: "fetcher", handler: () => new Response(null, { status: 404 }) }] as const,
  ]);
  const classes = Object.values(objects).map(
    (name) => [name, { type: "durable-object", storage: "sqlite" }] as const,
  );
  const modules = { "index.js": { type: "esm" as const, contents: code } };
  const config = {
    name: "chaos",
    compatibilityDate,
    manifest: { mainModule: "index.js", modulesRoot: "/", modules },
    exports: Object.fromEntries(classes),
    env,
  };
  return {
    host: "127.0.0.1",
    cf: false,
    telemetry: { enabled: false },
    resourcePersistencePath: directory,
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port }] } }],
  } as Options;
}
