import type { Metafile } from "esbuild";
import type { Finding } from "../environment/finding.ts";
import type { Place } from "./inspect-module.ts";
import { isGlobalObject, NETWORK_GLOBALS, opensConnections, refusalOfImport } from "./refusals.ts";
import { type BundledModule, isInPackage, ToolModules } from "./tool-modules.ts";

/**
 * Finds what reaches the world past the capabilities, in the modules of tools and in all that they
 * import (seeds/000 #32). In a package only the import of a module that opens connections is an
 * error. A package that mentions `fetch` is reported: whether it is called depends on its use.
 * Contract: it reads the modules and runs nothing. It finds mistakes; it is no sandbox.
 */
export function checkTools(
  project: string,
  { inputs }: Pick<Metafile, "inputs">,
): readonly Finding[] {
  const modules = new ToolModules(project, inputs).list();
  return modules.flatMap((module) =>
    isInPackage(module.file) ? checkPackaged(module) : checkOwn(module),
  );
}

function checkOwn(module: BundledModule): readonly Finding[] {
  const { file, facts } = module;
  const used = facts.impurities.map(({ name, instead, ...place }) =>
    refuse(file, place, `${name} reaches past the capabilities; ${instead}`),
  );
  return [...used, ...platformImportsOf(module).map(({ finding }) => finding)];
}

function checkPackaged(module: BundledModule): readonly Finding[] {
  const { file, facts } = module;
  const refused = platformImportsOf(module)
    .filter(({ specifier }) => opensConnections(specifier))
    .map(({ finding }) => finding);
  const mentioned = facts.impurities.find(({ name, part = name }) =>
    NETWORK_GLOBALS.has(isGlobalObject(name) ? part : name),
  );
  if (!mentioned) return refused;
  const { name, part } = mentioned;
  const global = isGlobalObject(name) ? `${name}.${part}` : name;
  const message = `a package of a tool mentions ${global}; see that no tool calls it`;
  return [...refused, { ...refuse(file, mentioned, message), level: "warning" }];
}

function platformImportsOf({
  file,
  facts,
}: BundledModule): readonly { readonly specifier: string; readonly finding: Finding }[] {
  return facts.imports.flatMap(({ specifier, ...place }) => {
    const instead = refusalOfImport(specifier);
    if (instead === undefined) return [];
    const message = `${specifier} reaches past the capabilities; ${instead}`;
    return [{ specifier, finding: refuse(file, place, message) }];
  });
}

function refuse(file: string, { line, column }: Place, message: string): Finding {
  return { level: "error", place: `${file}:${line}:${column}`, message };
}
