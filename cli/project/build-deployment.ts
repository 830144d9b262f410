import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileContracts, type CompiledContracts } from "../../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";
import { fail } from "../../src/protocol/outcome/result.ts";
import { CommandError } from "../command.ts";
import { outputFolder, PACKAGE_FOLDER } from "./folders.ts";
import { checkTools } from "../purity/check-tools.ts";
import { loadEntry } from "./load-deployment.ts";
import { writeModule } from "./write-module.ts";

/**
 * Builds what a deployment imports and serves: its compiled contracts and its pages. Returns why
 * the deployment cannot be built; undefined when it can. What was built then answers nothing else.
 * Contract: the same contracts give the same bytes.
 */
export async function buildDeployment(project: string): Promise<string | undefined> {
  const output = outputFolder(project);
  mkdirSync(output, { recursive: true });
  layOutPages(project, output);
  const compiled = await compile(project);
  replaceFile(join(output, "contracts.js"), writeCompiled(compiled));
  replaceFile(join(output, "contracts.d.ts"), "export declare const COMPILED: unknown;\n");
  return compiled.ok ? undefined : compiled.failure;
}

/** Writes the module that a deployment reads its compiled contracts from. */
export function writeCompiled(compiled: CompiledContracts): string {
  return writeModule("COMPILED", JSON.parse(JSON.stringify(compiled)) as JsonValue);
}

/** Lays the project's own files over the supplied pages. */
function layOutPages(project: string, output: string): void {
  for (const folder of [join(PACKAGE_FOLDER, "dist/public"), join(project, "public")]) {
    if (existsSync(folder)) cpSync(folder, join(output, "public"), { recursive: true });
  }
}

/**
 * Registers every contract of the deployment, and derives what the deployed Worker reads, or why
 * one may not register.
 */
async function compile(project: string): Promise<CompiledContracts> {
  try {
    const { options, metafile } = await loadEntry(project);
    const refused = checkTools(project, metafile).filter(({ level }) => level === "error");
    if (refused.length > 0) {
      const lines = refused.map(({ place, message }) => `${place}: ${message}`);
      return fail(`${lines.join("\n")}\nsee docs/tools-authoring.md#what-a-tool-may-not-reach`);
    }
    return compileContracts(registerContracts(options.tools));
  } catch (error) {
    if (error instanceof CommandError) return fail(error.message);
    if (!(error instanceof Error)) return fail(String(error));
    if (error.name === "ContractError") {
      return fail(`contracts: ${error.message}; see docs/tools-authoring.md`);
    }
    return fail(error.stack ?? error.message);
  }
}

/** Another build may read the file at this moment, and is to see all of it. */
export function replaceFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
