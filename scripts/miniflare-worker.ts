import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** A bundled Worker and what it is bound to; plain data, so that it can go to another process. */
export interface BundledWorker {
  readonly code: string;
  readonly compatibilityDate: string;
  readonly texts: Readonly<Record<string, string>>;
  /** Class of each Durable Object by the name of its binding. */
  readonly objects: Readonly<Record<string, string>>;
  /** Bindings of KV namespaces. */
  readonly kv: readonly string[];
  /** Bindings that answer 404 to everything. */
  readonly emptyServices: readonly string[];
  /** Directory that a binding serves the pages of, by the name of the binding. */
  readonly pages?: Readonly<Record<string, string>>;
}

/** Words a Worker as Miniflare 5 takes it. */
export function toWorkerConfig(name: string, worker: BundledWorker): object {
  const { code, compatibilityDate, texts, objects, kv, emptyServices, pages = {} } = worker;
  const bind = <T>(values: Readonly<Record<string, T>>, toBinding: (value: T) => object) =>
    Object.entries(values).map(([binding, value]) => [binding, toBinding(value)] as const);
  const classes = Object.values(objects).map(
    (className) => [className, { type: "durable-object", storage: "sqlite" }] as const,
  );
  return {
    name,
    compatibilityDate,
    manifest: {
      mainModule: "index.js",
      modulesRoot: "/",
      modules: { "index.js": { type: "esm", contents: code } },
    },
    exports: Object.fromEntries(classes),
    env: Object.fromEntries([
      ...bind(texts, (value) => ({ type: "text", value })),
      ...bind(objects, (exportName) => ({ type: "durable-object", worker: name, exportName })),
      ...kv.map((id) => [id, { type: "kv", id }] as const),
      ...emptyServices.map((binding) => [binding, { type: "fetcher", handler: notFound }] as const),
      ...bind(pages, (directory) => ({ type: "fetcher", handler: servePages(directory) })),
    ]),
  };
}

/** Ends what this process hosts, and the process, when its parent leaves or asks for it. */
export function endWithParent(hosted: { dispose(): Promise<void> }): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    void hosted.dispose().finally(() => process.exit());
  };
  process.on("disconnect", stop);
  process.on("SIGTERM", stop);
}

function notFound(): Response {
  return new Response(null, { status: 404 });
}

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
};

/** Serves the files of a directory as the platform does: pages without the ending of their name. */
function servePages(directory: string): (request: Request) => Response {
  return (request) => {
    const path = new URL(request.url).pathname;
    const name = path === "/" ? "/index.html" : extname(path) === "" ? `${path}.html` : path;
    const file = join(directory, name);
    if (!existsSync(file)) return notFound();
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    return new Response(readFileSync(file), { headers: { "content-type": type } });
  };
}
