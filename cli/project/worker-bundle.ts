import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Metafile } from "esbuild";
import { unstable_readConfig } from "wrangler";
import { CommandError, messageOf } from "../command.ts";
import { wranglerScript } from "./folders.ts";

/** The Worker as `wrangler deploy` uploads it. */
export interface WorkerBundle {
  readonly code: string;
  readonly metafile: Metafile;
}

/**
 * Builds the minified Worker as `wrangler deploy` does, without an upload.
 * Contract: works offline; writes into `directory`, and runs the configured build step.
 * Fails: throws a CommandError with wrangler's message.
 */
export async function bundleWorker(
  project: string,
  directory: string,
  environment?: string,
): Promise<WorkerBundle> {
  const flags = ["--dry-run", "--minify", "--metafile", "--outdir", directory];
  if (environment !== undefined) flags.push("--env", environment);
  await promisify(execFile)(process.execPath, [wranglerScript(project), "deploy", ...flags], {
    cwd: project,
    env: {
      ...process.env,
      CLOUDFLARE_CF_FETCH_ENABLED: "false",
      WRANGLER_SEND_METRICS: "false",
    },
  }).catch((error: unknown) => {
    throw new CommandError(messageOf(error));
  });
  const read = (name: string): string => readFileSync(join(directory, name), "utf8");
  return {
    code: read("index.js"),
    metafile: JSON.parse(read("bundle-meta.json")) as Metafile,
  };
}

/** Bindings that a local start of the bundle needs. */
export interface WorkerBindings {
  readonly compatibilityDate: string;
  readonly kv: readonly string[];
  /** Class of each Durable Object by the name of its binding. */
  readonly objects: Readonly<Record<string, string>>;
  /**
   * Variables of the configuration, and a placeholder of 64 characters for each required secret.
   */
  readonly texts: Readonly<Record<string, string>>;
  /** Binding that serves the files of the chat page. */
  readonly assets: string;
}

/** Part of the configuration that this module reads. The type of the package does not resolve. */
interface Configuration {
  readonly compatibility_date: string;
  readonly vars: Readonly<Record<string, string>>;
  readonly secrets: { readonly required: readonly string[] };
  readonly kv_namespaces: readonly { readonly binding: string }[];
  readonly durable_objects: {
    readonly bindings: readonly { readonly name: string; readonly class_name: string }[];
  };
  readonly assets: { readonly binding: string };
}

/** Reads the bindings from wrangler.toml, so that a new binding needs no second list. */
export function readWorkerBindings(project: string): WorkerBindings {
  const file = join(project, "wrangler.toml");
  const config = unstable_readConfig({ config: file }, { hideWarnings: true }) as Configuration;
  const objects = config.durable_objects.bindings.map(
    ({ name, class_name }) => [name, class_name] as const,
  );
  const secrets = config.secrets.required.map((name) => [name, "0".repeat(64)] as const);
  return {
    compatibilityDate: config.compatibility_date,
    kv: config.kv_namespaces.map(({ binding }) => binding),
    objects: Object.fromEntries(objects),
    texts: { ...config.vars, ...Object.fromEntries(secrets) },
    assets: config.assets.binding,
  };
}
