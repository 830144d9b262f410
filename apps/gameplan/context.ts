import * as v from "valibot";
import type { ContextHook } from "interlock-edge/tools";
import { rowId } from "./tools/entities/fields.ts";
import { readOpenProject } from "./tools/project/read-open-project.ts";
import { readerOf } from "./tools/timed-operation.ts";

/** What a page of GamePlan says about itself, as far as the hook uses it. */
const shownPage = v.object({ page: v.literal("GamePlan"), projectId: rowId });

/**
 * Gives the model the project that the page shows: its status, its counts, its newest draft plans
 * and open threads. A project that the caller cannot read gives nothing, and so does a workspace
 * that does not answer: the assistant works without it.
 */
export const gameplanContext: ContextHook = async ({ requestContext, openWorkspace }) => {
  const page = v.safeParse(shownPage, requestContext);
  if (!page.success || !openWorkspace) return {};
  const { projectId } = page.output;
  const read = readerOf(openWorkspace("gameplan"));
  const found = await read(readOpenProject, { projectId });
  return found.ok ? { data: { openProject: found.value } } : {};
};
