import type { BuildOptions } from "esbuild";

/** What workerd refuses while a Worker starts: it does them only while it answers a request. */
const REFUSED = [
  "setTimeout",
  "setInterval",
  "fetch",
  "crypto.randomUUID",
  "crypto.getRandomValues",
];

const GUARD = `const startGuard = { isStarting: true };
for (const path of ${JSON.stringify(REFUSED)}) {
  const [name, ...owners] = path.split(".").reverse();
  const owner = owners.reduce((from, next) => from[next], globalThis);
  startGuard[name] = (...given) => {
    if (!startGuard.isStarting) return owner[name](...given);
    const error = new Error(path + "() at the top level of a module: call it in a function, because a Worker may not while it starts");
    Error.captureStackTrace(error, startGuard[name]);
    throw error;
  };
}`;

/**
 * Makes a bundle for Node throw where workerd would: when a module calls one of these at its top
 * level. The stack of the error names the place in the source, which that of workerd does not.
 */
export function guardStart(): Pick<BuildOptions, "banner" | "footer" | "define"> {
  const guarded = REFUSED.map((path) => [path, `startGuard.${path.split(".").at(-1)}`]);
  return {
    banner: { js: GUARD },
    define: Object.fromEntries(guarded) as Record<string, string>,
    footer: { js: "startGuard.isStarting = false;" },
  };
}
