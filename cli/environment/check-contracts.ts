import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { readCompiled } from "../../src/contracts/catalog/compiled.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { messageOf } from "../command.ts";
import { compareWithLock } from "../contracts/lock/compare-with-lock.ts";
import { LOCK_NAME } from "../contracts/lock/lock-folder.ts";
import { outputFolder } from "../project/folders.ts";
import type { Finding } from "./finding.ts";

/** Checks that the compiled contracts are those of the tools, and that the lock holds them. */
export async function checkContracts(
  project: string,
  tools: readonly AnyToolContract[],
): Promise<readonly Finding[]> {
  return [...(await checkCompiled(project, tools)), ...(await checkLock(project, tools))];
}

/** Reads the build's result as the Worker does, which answers nothing with a stale one. */
async function checkCompiled(
  project: string,
  tools: readonly AnyToolContract[],
): Promise<readonly Finding[]> {
  const place = ".interlock/contracts.js";
  const file = join(outputFolder(project), "contracts.js");
  if (!existsSync(file)) {
    const message = "the contracts are not compiled. Run: npx interlock build";
    return [{ level: "error", place, message }];
  }
  try {
    const { COMPILED } = (await import(pathToFileURL(file).href)) as { readonly COMPILED: unknown };
    readCompiled(tools, COMPILED);
    return [];
  } catch (error) {
    return [{ level: "error", place, message: messageOf(error) }];
  }
}

async function checkLock(
  project: string,
  tools: readonly AnyToolContract[],
): Promise<readonly Finding[]> {
  const found = await compareWithLock(tools, project);
  const message = {
    same: undefined,
    unreadable: "the lock is missing or damaged. Run: npx interlock contracts update",
    breaking: "a locked version changed for its callers. Run: npx interlock contracts check",
    stale: "the lock is out of date. Run: npx interlock contracts update",
  }[found.kind];
  return message === undefined ? [] : [{ level: "error", place: LOCK_NAME, message }];
}
