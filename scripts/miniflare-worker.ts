import { existsSync, readFileSync } from "node:fs";
import { extname, join } from "node:path";

/** A bundled Worker and its bindings. Plain data, so that another process can receive it. */
export interface BundledWorker {
  readonly code: string;
  readonly compatibilityDate: string;
  /** Compatibility flags. */
  readonly flags?: readonly string[];
  readonly texts: Readonly<Record<string, string>>;
  /** Class of each Durable Object by the name of its binding. */
  readonly objects: Readonly<Record<string, string>>;
  /** Bindings of KV namespaces. */
  readonly kv: readonly string[];
  /** Bindings that answer 404 to every request. */
  readonly emptyServices: readonly string[];
  /** Directory of the pages that a binding serves, by the name of the binding. */
  readonly pages?: Readonly<Record<string, string>>;
}

/** Converts a Worker to the configuration of Miniflare 5. */
export function toWorkerConfig(name: string, worker: BundledWorker): object {
  const {
    code,
    compatibilityDate,
    texts,
    objects,
    kv,
    emptyServices,
    flags = [],
    pages = {},
  } = worker;
  const bind = <T>(values: Readonly<Record<string, T>>, toBinding: (value: T) => object) =>
    Object.entries(values).map(([binding, value]) => [binding, toBinding(value)] as const);
  const classes = Object.values(objects).map(
    (className) => [className, { type: "durable-object", storage: "sqlite" }] as const,
  );
  return {
    name,
    compatibilityDate,
    compatibilityFlags: flags,
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

/** Ends Miniflare and this process when the parent exits or sends a signal. */
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

/** Serves the files of a directory as the platform does: pages without the extension `.html`. */
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
