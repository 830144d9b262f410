import { build } from "esbuild";

/** Bundles a Worker's entry into one module for workerd. */
export async function bundleEntry(file: string, minify: boolean): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file],
    bundle: true,
    minify,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
  });
  return outputFiles[0]?.text ?? "";
}
