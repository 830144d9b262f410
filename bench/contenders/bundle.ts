import { join } from "node:path";
import { bundleEntry } from "../../scripts/bundle-entry.ts";
import { compileContracts } from "../../src/contracts/compiled.ts";
import { registerContracts } from "../../src/contracts/register.ts";
import { CORE_TOOLS } from "../../src/tools/core/pack.ts";

/** Bundles a Worker of this folder, with its contracts compiled as `interlock build` does. */
export function bundleContender(file: string, { minify = true } = {}): Promise<string> {
  const compiled = JSON.stringify(compileContracts(registerContracts(CORE_TOOLS)));
  const define = { COMPILED_CORE_TOOLS: JSON.stringify(compiled) };
  return bundleEntry(join(import.meta.dirname, file), minify, define);
}
