import { build, type BuildOptions } from "esbuild";

export interface BundleChoices {
  readonly minify: boolean;
  /** Gives names their JSON values. */
  readonly define?: Record<string, string>;
  /** Files that stand for packages. */
  readonly alias?: Record<string, string>;
}

/** Bundles a Worker's entry into one module for workerd. */
export function bundleEntry(file: string, choices: BundleChoices): Promise<string> {
  return bundle({ entryPoints: [file], ...choices });
}

/** Bundles an entry that is given as text. `folder` is where its imports start from. */
export function bundleText(
  contents: string,
  folder: string,
  choices: BundleChoices,
): Promise<string> {
  return bundle({ stdin: { contents, resolveDir: folder, loader: "ts" }, ...choices });
}

async function bundle(options: BuildOptions): Promise<string> {
  const { outputFiles } = await build({
    ...options,
    bundle: true,
    write: false,
    format: "esm",
    target: "es2024",
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    logLevel: "warning",
  });
  return outputFiles?.[0]?.text ?? "";
}
