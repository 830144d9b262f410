import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { TOOL_CONTRACTS } from "../src/compose/tools.ts";
import { compileContracts, type CompiledContracts } from "../src/contracts/compiled.ts";
import { ContractError } from "../src/contracts/error.ts";
import { registerContracts } from "../src/contracts/register.ts";
import { fail, ok } from "../src/protocol/outcome/result.ts";

const TARGET = join(import.meta.dirname, "../dist/compiled-contracts.js");

main();

/**
 * Registers every contract of the deployment and writes what was derived from them, or why one may
 * not register, into the module that the deployed Worker reads.
 * Contract: the same contracts give the same bytes. Fails: one that may not register fails the
 * build; in development, with SERVE_REFUSAL set, the Worker that is built answers nothing but the
 * reason.
 */
function main(): void {
  const compiled = compile();
  mkdirSync(dirname(TARGET), { recursive: true });
  // As text: a literal would give a key like __proto__ another meaning.
  const text = JSON.stringify(JSON.stringify(compiled));
  // Another build may read it at this moment, and is to see all of it.
  const draft = `${TARGET}.${process.pid}`;
  writeFileSync(draft, `export const COMPILED = JSON.parse(${text});\n`);
  renameSync(draft, TARGET);
  if (compiled.ok) return;
  console.error(compiled.failure);
  if (!process.env["SERVE_REFUSAL"]) process.exitCode = 1;
}

function compile(): CompiledContracts {
  try {
    return ok(compileContracts(registerContracts(TOOL_CONTRACTS)));
  } catch (error) {
    if (!(error instanceof ContractError)) throw error;
    return fail(`contracts: ${error.message}; see docs/tools-authoring.md`);
  }
}
