import { Miniflare } from "miniflare";
import { childrenOf } from "../process-usage.ts";
import type { ContenderPlan } from "./plan.ts";

/** What the host tells its parent once the Worker takes requests. */
export interface HostReady {
  readonly port: number;
  readonly workerdPid: number;
  readonly inspectorUrl: string | undefined;
}

/**
 * Runs one Worker in a workerd of its own: takes the plan as a message, and ends with its parent.
 * Requests go straight to the Worker's socket, past Miniflare's own entry Worker.
 */
process.once("message", (message: { plan: ContenderPlan; inspect: boolean }) => {
  start(message.plan, message.inspect).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
});

async function start(plan: ContenderPlan, inspect: boolean): Promise<void> {
  const miniflare = new Miniflare(toOptions(plan, inspect));
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void miniflare.dispose().finally(() => process.exit());
  };
  process.on("disconnect", stop);
  process.on("SIGTERM", stop);
  await miniflare.ready;
  for (const [binding, entries] of Object.entries(plan.kv)) {
    const namespace = await miniflare.getKVNamespace(binding);
    for (const [key, value] of Object.entries(entries)) await namespace.put(key, value);
  }
  const [workerdPid] = childrenOf(process.pid);
  if (workerdPid === undefined) throw new Error("workerd does not run");
  const url = await miniflare.unsafeGetDirectURL("contender");
  const inspectorUrl = inspect ? String(await miniflare.getInspectorURL()) : undefined;
  process.send?.({ port: Number(url.port), workerdPid, inspectorUrl } satisfies HostReady);
}

type Options = ConstructorParameters<typeof Miniflare>[0];

function toOptions(plan: ContenderPlan, inspect: boolean): Options {
  const { code, compatibilityDate, texts, objects, kv, emptyServices } = plan;
  const bind = <T>(values: Readonly<Record<string, T>>, toBinding: (value: T) => object) =>
    Object.entries(values).map(([name, value]) => [name, toBinding(value)] as const);
  const env = Object.fromEntries([
    ...bind(texts, (value) => ({ type: "text", value })),
    ...bind(objects, (exportName) => ({ type: "durable-object", worker: "contender", exportName })),
    ...Object.keys(kv).map((id) => [id, { type: "kv", id }] as const),
    ...emptyServices.map((name) => [name, { type: "fetcher", handler: notFound }] as const),
  ]);
  const classes = Object.values(objects).map(
    (name) => [name, { type: "durable-object", storage: "sqlite" }] as const,
  );
  const modules = { "index.js": { type: "esm" as const, contents: code } };
  const config = {
    name: "contender",
    compatibilityDate,
    manifest: { mainModule: "index.js", modulesRoot: "/", modules },
    exports: Object.fromEntries(classes),
    env,
  };
  return {
    host: "127.0.0.1",
    cf: false,
    telemetry: { enabled: false },
    ...(inspect && { inspectorPort: 0, inspectorHost: "127.0.0.1" }),
    workers: [{ config, dev: { unsafeDirectSockets: [{ host: "127.0.0.1", port: 0 }] } }],
  } as Options;
}

function notFound(): Response {
  return new Response(null, { status: 404 });
}
