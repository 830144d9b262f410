import { randomUUID } from "node:crypto";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { pathToFileURL } from "node:url";
import { build, type Metafile, type PluginBuild } from "esbuild";
import * as authorCode from "../../src/contracts/define/author-code.ts";
import type { DeploymentOptions } from "../../src/define-deployment.ts";
import { DEPLOYMENT_OPTIONS } from "../../src/protocol/deployment-options.ts";
import { CommandError } from "../command.ts";
import { findImportCircle } from "./import-circle.ts";
import { guardStart } from "./start-guard.ts";
import { outputFolder } from "./folders.ts";

/**
 * Loads what a deployment hands to `defineDeployment`, from the entry that wrangler.toml names.
 * Fails: throws a CommandError with the compiler's messages or with the place of what a module
 * throws, or the ContractError of a contract.
 */
export async function loadDeployment(project: string): Promise<DeploymentOptions> {
  return (await loadEntry(project)).options;
}

/** Loads the entry: what it hands to `defineDeployment`, its exports, and what it imports. */
export async function loadEntry(project: string): Promise<{
  readonly options: DeploymentOptions;
  readonly exported: readonly string[];
  readonly metafile: Metafile;
}> {
  const entry = readEntry(project);
  const { loaded, metafile } = await loadModule(project, entry);
  const options: unknown = loaded.default && Reflect.get(loaded.default, DEPLOYMENT_OPTIONS);
  if (options !== undefined) {
    return { options: options as DeploymentOptions, exported: Object.keys(loaded), metafile };
  }
  throw new CommandError(`The default export of ${entry} is not the worker of defineDeployment.`);
}

/**
 * Bundles a module of the project and loads it.
 * Fails: throws a CommandError with the compiler's messages or with the place of what a module
 * throws, or the ContractError of a contract.
 */
export async function loadModule(
  project: string,
  entry: string,
): Promise<{ readonly loaded: { readonly default?: object }; readonly metafile: Metafile }> {
  // Another command may load the same module at this moment, and Node keeps a module by its name.
  const outfile = join(outputFolder(project), `${basename(entry)}-${randomUUID()}.mjs`);
  const shared = Symbol.for(outfile);
  try {
    const { metafile } = await build({
      ...guardStart(),
      absWorkingDir: project,
      entryPoints: [entry],
      outfile,
      metafile: true,
      bundle: true,
      format: "esm",
      platform: "node",
      target: "node20",
      conditions: ["workerd", "worker", "browser"],
      sourcemap: "inline",
      sourcesContent: false,
      loader: { ".html": "text", ".txt": "text", ".sql": "text", ".wasm": "binary" },
      plugins: [
        { name: "platform", setup: replacePlatform },
        { name: "author-code", setup: (bundler) => shareAuthorCode(bundler, outfile) },
      ],
      logLevel: "silent",
    }).catch((error: unknown) => {
      throw new CommandError(describeBuild(error));
    });
    process.setSourceMapsEnabled(true);
    Reflect.set(globalThis, shared, authorCode);
    const loaded = (await import(pathToFileURL(outfile).href).catch((error: unknown) => {
      throw describeThrown(error, findImportCircle(metafile));
    })) as { readonly default?: object };
    return { loaded, metafile };
  } finally {
    Reflect.deleteProperty(globalThis, shared);
    rmSync(outfile, { force: true });
  }
}

/** Neither the platform nor the result of an earlier build is needed to read the deployment. */
function replacePlatform(bundler: PluginBuild): void {
  bundler.onResolve({ filter: /^cloudflare:/ }, () => ({ path: "platform", namespace: "empty" }));
  bundler.onResolve({ filter: /\.interlock\/contracts\.js$/ }, () => ({
    path: "contracts",
    namespace: "empty",
  }));
  bundler.onLoad({ filter: /.*/, namespace: "empty" }, () => ({
    contents:
      "export class DurableObject {}\n" +
      "export const waitUntil = undefined, COMPILED = undefined, connect = undefined, env = {};",
  }));
}

/** What the bundle seals, this command has to open: both use the same module. */
function shareAuthorCode(bundler: PluginBuild, name: string): void {
  const names = Object.keys(authorCode).join(", ");
  const contents = `export const { ${names} } = globalThis[Symbol.for(${JSON.stringify(name)})];`;
  bundler.onLoad({ filter: /contracts.define.author-code\.[jt]s$/ }, () => ({ contents }));
}

function readEntry(project: string): string {
  const text = readFileSync(join(project, "wrangler.toml"), "utf8");
  const entry = /^main\s*=\s*"([^"]+)"/m.exec(text)?.[1];
  if (entry !== undefined && existsSync(join(project, entry))) return `./${entry}`;
  throw new CommandError(
    entry === undefined ? "wrangler.toml names no main." : `There is no file ${entry}.`,
  );
}

/**
 * Cuts the frames of the loader off what a module threw while it was loaded. Names the modules that
 * import each other, where something may not have been defined yet for that reason.
 */
function describeThrown(error: unknown, circle: string | undefined): unknown {
  if (!(error instanceof Error)) return error;
  const isEarly = error instanceof TypeError || error.message.includes("not defined yet");
  const hint = circle && isEarly ? `These modules import each other: ${circle}` : "";
  if (error.name === "ContractError") {
    if (hint) error.message += `. ${hint}`;
    return error;
  }
  const lines = (error.stack ?? error.message).split("\n");
  const loader = lines.findIndex((line) => /^ +at .*node:internal/.test(line));
  const shown = lines.slice(0, loader < 0 ? undefined : loader);
  return new CommandError([...shown, ...(hint ? [hint] : [])].join("\n"));
}

function describeBuild(error: unknown): string {
  const { errors = [] } = error as { readonly errors?: readonly BuildMessage[] };
  if (errors.length === 0) return String(error);
  return errors.map(({ text, location }) => `${describePlace(location)}${text}`).join("\n");
}

interface BuildMessage {
  readonly text: string;
  readonly location: {
    readonly file: string;
    readonly line: number;
    readonly column: number;
  } | null;
}

function describePlace(location: BuildMessage["location"]): string {
  return location ? `${location.file}:${location.line}:${location.column + 1}: ` : "";
}
