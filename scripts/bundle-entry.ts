import { build } from "esbuild";

/** Bundles a Worker's entry into one module for workerd. `define` gives names their JSON values. */
export async function bundleEntry(
  file: string,
  minify: boolean,
  define: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify,
    define,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
  });
  return outputFiles[0]?.text ?? "";
}
