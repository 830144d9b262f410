import { defineTool } from "./define-tool.ts";

/** Shared by all copies of this package: the build and a project have one each. */
const CORE = Symbol.for("interlock.core-tool");

/**
 * Declares a tool that the package ships: its id may begin with `core__`.
 * Contract: not exported to authors.
 */
export const defineCoreTool: typeof defineTool = (definition) => ({
  ...defineTool(definition),
  [CORE]: definition.name,
});

/** Tells whether the package ships this tool. A copy under another name is somebody else's. */
export function isCoreTool(contract: {
  readonly name: string;
  readonly [CORE]?: unknown;
}): boolean {
  return contract[CORE] === contract.name;
}
