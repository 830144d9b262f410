import type { ToolCapabilities } from "../capabilities/tool.ts";
import { resolveDefaults } from "./resolve-defaults.ts";
import type { ClosedObjectSchema, ToolContract, ToolDefinition } from "./definition.ts";

/** Declares a tool; the types of `execute` flow from its schemas and its capabilities. */
export function defineTool<
  const In extends ClosedObjectSchema,
  const Out extends ClosedObjectSchema,
  const Needs extends keyof ToolCapabilities = never,
>(definition: ToolDefinition<In, Out, Needs>): ToolContract<In, Out, Needs> {
  return resolveDefaults(definition);
}
