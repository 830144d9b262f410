import { join } from "node:path";
import { bundleEntry, bundleText } from "../../scripts/bundle-entry.ts";
import { compileContracts } from "../../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import { CORE_TOOLS } from "../../src/core-tools/pack.ts";

/** A module of a package asks for `path` with `require`, which a Worker does not have. */
const NODE_PATH = join(import.meta.dirname, "node-path.ts");

/** Bundles a Worker of this folder, with its contracts compiled as `interlock build` does. */
export function bundleContender(file: string, { minify = true } = {}): Promise<string> {
  const choices = { minify, define: compiled(), alias: { path: NODE_PATH } };
  return bundleEntry(join(import.meta.dirname, file), choices);
}

/** Bundles a Worker whose text imports modules of this folder. */
export function bundleContenderText(text: string): Promise<string> {
  return bundleText(text, import.meta.dirname, { minify: true, define: compiled() });
}

function compiled(): Record<string, string> {
  const contracts = JSON.stringify(compileContracts(registerContracts(CORE_TOOLS)));
  return { COMPILED_CORE_TOOLS: JSON.stringify(contracts) };
}
