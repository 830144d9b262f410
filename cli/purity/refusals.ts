import { isBuiltin } from "node:module";

const HTTP = "use the capability http";
const CLOCK = "use the capability clock";
const TIMER = "return a failure that may be retried, or set runtime.timeoutMs";
const GLOBAL = "name the global that you mean";
const SECRETS = "use the capabilities auth and http, or an upstream of the deployment";
const CODE = "write the code into the module";
const RANDOM = "use idempotencyKey, or newId of an operation";

/** Globals that reach the world, and what a tool uses instead (seeds/000 #32). */
export const REFUSED_GLOBALS: ReadonlyMap<string, string> = new Map([
  ["AbortSignal", TIMER],
  ["Atomics", TIMER],
  ["BroadcastChannel", HTTP],
  ["Bun", SECRETS],
  ["Date", CLOCK],
  ["Deno", SECRETS],
  ["EventSource", HTTP],
  ["Function", CODE],
  ["Math", RANDOM],
  ["MessageChannel", TIMER],
  ["Request", HTTP],
  ["Temporal", CLOCK],
  ["WebSocket", HTTP],
  ["WebSocketPair", HTTP],
  ["Worker", CODE],
  ["XMLHttpRequest", HTTP],
  ["addEventListener", TIMER],
  ["caches", "keep data in a workspace"],
  ["console", "use the capability progress, or return a failure"],
  ["crypto", RANDOM],
  ["env", SECRETS],
  ["eval", CODE],
  ["fetch", HTTP],
  ["global", GLOBAL],
  ["globalThis", GLOBAL],
  ["navigator", HTTP],
  ["performance", CLOCK],
  ["process", SECRETS],
  ["queueMicrotask", TIMER],
  ["require", "use import"],
  ["scheduler", TIMER],
  ["self", GLOBAL],
  ["setImmediate", TIMER],
  ["setInterval", TIMER],
  ["setTimeout", TIMER],
  ["window", GLOBAL],
]);

/** Parts of refused globals that depend only on their arguments, as `Date.parse`. */
export const PURE_PARTS: Readonly<Record<string, (path: readonly string[]) => boolean>> = {
  AbortSignal: ([part]) => part === "any" || part === "abort",
  Date: ([part]) => part === "UTC" || part === "parse",
  Math: ([part]) => part !== undefined && part !== "random",
  Temporal: ([part]) => part !== undefined && part !== "Now",
  crypto: ([part, method]) => part === "subtle" && method === "digest",
};

/** Tells whether a name stands for the object of all globals. */
export function isGlobalObject(name: string): boolean {
  return REFUSED_GLOBALS.get(name) === GLOBAL;
}

/** What a package may mention, and a check only reports. */
export const NETWORK_GLOBALS: ReadonlySet<string> = new Set([
  "EventSource",
  "WebSocket",
  "XMLHttpRequest",
  "fetch",
]);

/** Modules of Node whose functions depend only on their arguments. */
const PURE_MODULES = new Set([
  "assert",
  "buffer",
  "path",
  "punycode",
  "querystring",
  "string_decoder",
  "url",
  "util",
]);

const NETWORK_MODULES =
  /^(?:child_process|cluster|dgram|dns|http|http2|https|net|tls|worker_threads)(?:\/|$)/;

/** What to use in place of a module of the platform; undefined for any other module. */
export function refusalOfImport(specifier: string): string | undefined {
  if (/^(?:data|https?):/.test(specifier)) return "import a module or a package";
  if (specifier.startsWith("cloudflare:")) return specifier.endsWith("sockets") ? HTTP : SECRETS;
  if (!isBuiltin(specifier)) return undefined;
  const name = specifier.replace(/^node:/, "");
  if (PURE_MODULES.has(name.split("/", 1)[0] ?? "")) return undefined;
  return name === "crypto" ? "use crypto.subtle.digest, or idempotencyKey" : HTTP;
}

/** Tells whether a module opens connections or starts programs. Packages may import no such one. */
export function opensConnections(specifier: string): boolean {
  return (
    specifier.startsWith("cloudflare:") || NETWORK_MODULES.test(specifier.replace("node:", ""))
  );
}
