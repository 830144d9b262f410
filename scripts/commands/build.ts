import { cpSync, existsSync, mkdirSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compileContracts, type CompiledContracts } from "../../src/contracts/compiled.ts";
import { registerContracts } from "../../src/contracts/register.ts";
import { fail } from "../../src/protocol/outcome/result.ts";
import { CommandError, type Command } from "../command.ts";
import { loadDeployment, outputFolder, PACKAGE_FOLDER, projectFolder } from "../project.ts";

export const command: Command = {
  usage:
    "Usage: interlock build\n" +
    "Writes .interlock/contracts.js from the tools of the deployment, and .interlock/public\n" +
    "from the supplied pages and your folder public. Exit code 1: a contract cannot be registered.",
  run: buildProject,
};

/** Builds what the deployment in the current folder imports and serves. */
async function buildProject(): Promise<void> {
  const project = projectFolder();
  const output = outputFolder(project);
  mkdirSync(output, { recursive: true });
  layOutPages(project, output);
  writeContracts(output, await compile(project));
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
    const { tools } = await loadDeployment(project);
    return compileContracts(registerContracts(tools));
  } catch (error) {
    if (error instanceof CommandError) return fail(error.message);
    if (!(error instanceof Error) || error.name !== "ContractError") throw error;
    return fail(`contracts: ${error.message}; see docs/tools-authoring.md`);
  }
}

/**
 * Contract: the same contracts give the same bytes. Fails: a refused contract fails the build; in
 * development, with SERVE_REFUSAL set, the Worker that is built answers nothing but the reason.
 */
function writeContracts(output: string, compiled: CompiledContracts): void {
  // As text: a literal would give a key like __proto__ another meaning.
  const text = JSON.stringify(JSON.stringify(compiled));
  replaceFile(join(output, "contracts.js"), `export const COMPILED = JSON.parse(${text});\n`);
  replaceFile(join(output, "contracts.d.ts"), "export declare const COMPILED: unknown;\n");
  if (compiled.ok) return;
  console.error(compiled.failure);
  if (!process.env["SERVE_REFUSAL"]) process.exitCode = 1;
}

/** Another build may read the file at this moment, and is to see all of it. */
function replaceFile(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text);
  renameSync(draft, file);
}
