import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileContracts, type CompiledContracts } from "../../src/contracts/catalog/compiled.ts";
import { registerContracts } from "../../src/contracts/check/register.ts";
import type { JsonValue } from "../../src/protocol/json/value.ts";
import type { DeploymentOptions } from "../../src/define-deployment.ts";
import { fail, ok, type Result } from "../../src/protocol/outcome/result.ts";
import { CommandError } from "../command.ts";
import { outputFolder, PACKAGE_FOLDER } from "./folders.ts";
import { checkTools } from "../purity/check-tools.ts";
import { loadEntry } from "./load-deployment.ts";
import { writeModule } from "./write-module.ts";

/**
 * Builds what a deployment imports and serves: its compiled contracts and its pages. Returns what
 * the deployment hands to `defineDeployment`, or why it cannot be built. What was built then
 * answers nothing else.
 * Contract: the same contracts give the same bytes.
 */
export async function buildDeployment(project: string): Promise<Result<DeploymentOptions, string>> {
  const output = outputFolder(project);
  mkdirSync(output, { recursive: true });
  layOutPages(project, output);
  const loaded = await loadChecked(project);
  const compiled = loaded.ok ? compile(loaded.value) : loaded;
  replaceFile(join(output, "contracts.js"), writeCompiled(compiled));
  replaceFile(join(output, "contracts.d.ts"), "export declare const COMPILED: unknown;\n");
  return compiled.ok ? loaded : compiled;
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

/** Loads a deployment whose tools stay inside their capabilities, or says why there is none. */
async function loadChecked(project: string): Promise<Result<DeploymentOptions, string>> {
  try {
    const { options, metafile } = await loadEntry(project);
    const refused = checkTools(project, metafile).filter(({ level }) => level === "error");
    if (refused.length === 0) return ok(options);
    const lines = refused.map(({ place, message }) => `${place}: ${message}`);
    return fail(`${lines.join("\n")}\nsee docs/tools-authoring.md#what-a-tool-may-not-reach`);
  } catch (error) {
    return fail(describeRefusal(error));
  }
}

/**
 * Registers every contract of the deployment, and derives what the deployed Worker reads, or why
 * one may not register.
 */
function compile({ tools }: DeploymentOptions): CompiledContracts {
  try {
    return compileContracts(registerContracts(tools));
  } catch (error) {
    return fail(describeRefusal(error));
  }
}

function describeRefusal(error: unknown): string {
  if (error instanceof CommandError) return error.message;
  if (!(error instanceof Error)) return String(error);
  if (error.name === "ContractError") {
    return `contracts: ${error.message}; see docs/tools-authoring.md`;
  }
  return error.stack ?? error.message;
}

/** Another build may read the file at this moment, and is to see all of it. */
export function replaceFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
