import type { ToolHook } from "../../src/capabilities/hook.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** The hooks of the laboratory, as a test sets them. */
export const labHooks: ToolHook[] = [];
beforeEachFile(() => {
  labHooks.length = 0;
});

/** Asks the hooks of the current test, in their order. */
export const askLabHooks: readonly ToolHook[] = [0, 1].map((index) => ({
  before: async (call) => labHooks[index]?.before?.(call),
  after: async (call, observation, content) => labHooks[index]?.after?.(call, observation, content),
}));
