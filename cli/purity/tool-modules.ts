import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Metafile } from "esbuild";
import { PACKAGE_FOLDER } from "../project/folders.ts";
import { inspectModule, type ModuleFacts, type ModuleImport } from "./inspect-module.ts";

type Inputs = Metafile["inputs"];

/** A module of the bundle. `file` is as esbuild names it, from the project's folder. */
export interface BundledModule {
  readonly file: string;
  readonly facts: ModuleFacts;
}

const DEFINES = new Set(["defineTool", "defineSaga", "defineOperation", "defineWorkspace", "*"]);
const SCRIPT = /\.[cm]?[jt]sx?$/;

/** Tells whether a module belongs to this package, which has its own rules. */
function isOurs(project: string, file: string): boolean {
  const path = resolve(project, file);
  return ["src", "dist/package", "durable-objects"].some((part) =>
    path.startsWith(`${PACKAGE_FOLDER}/${part}/`),
  );
}

export function isInPackage(file: string): boolean {
  return file.includes("node_modules/");
}

/**
 * Finds the modules of a project that define tools or operations, and every module that these
 * import, of packages too. A module that imports only finished tools, such as an entry, is none.
 */
export class ToolModules {
  readonly #project: string;
  readonly #inputs: Inputs;
  readonly #facts = new Map<string, ModuleFacts>();

  constructor(project: string, inputs: Inputs) {
    this.#project = project;
    this.#inputs = inputs;
  }

  list(): readonly BundledModule[] {
    const found = new Set<string>();
    const follow = (file: string): void => {
      if (found.has(file) || isOurs(this.#project, file) || !SCRIPT.test(file)) return;
      found.add(file);
      for (const { path, external } of this.#importsOf(file)) if (!external) follow(path);
    };
    this.#findDefining().forEach(follow);
    return [...found].sort().map((file) => ({
      file,
      facts: this.#factsOf(file),
    }));
  }

  /** A function that makes tools makes a tool module of every module that imports it. */
  #findDefining(): ReadonlySet<string> {
    const own = Object.keys(this.#inputs).filter(
      (file) => SCRIPT.test(file) && !isInPackage(file) && !isOurs(this.#project, file),
    );
    const makers = new Set<string>();
    const defining = new Set<string>();
    for (let count = -1; count !== makers.size;) {
      count = makers.size;
      for (const file of own) {
        const facts = this.#factsOf(file);
        const means = facts.imports.filter((imported) => this.#isMeans(file, imported, makers));
        if (means.length === 0) continue;
        defining.add(file);
        const isMaker = means.some(
          ({ isReexport, names }) =>
            isReexport || names.some(([, local]) => facts.usedInFunctions.has(local)),
        );
        if (isMaker) makers.add(file);
      }
    }
    return defining;
  }

  /** Tells whether an import brings a function that defines tools. */
  #isMeans(file: string, { specifier, names }: ModuleImport, makers: ReadonlySet<string>): boolean {
    const path = this.#importsOf(file).find((each) => (each.original ?? each.path) === specifier);
    if (!path) return false;
    if (makers.has(path.path)) return true;
    return isOurs(this.#project, path.path) && names.some(([imported]) => DEFINES.has(imported));
  }

  #importsOf(file: string): Inputs[string]["imports"] {
    return this.#inputs[file]?.imports ?? [];
  }

  #factsOf(file: string): ModuleFacts {
    const known = this.#facts.get(file);
    if (known) return known;
    const facts = inspectModule(file, readFileSync(resolve(this.#project, file), "utf8"));
    this.#facts.set(file, facts);
    return facts;
  }
}
