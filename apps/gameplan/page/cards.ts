import type { JsonObject } from "../../../src/protocol/json/value.ts";
import {
  type CardNode,
  defineToolCard,
  type ToolCard,
  type ToolCardCall,
} from "../../../src/widget/cards/define-tool-card.ts";
import { drawData } from "./draw-data.ts";
import { objectOf, textOf } from "./read-json.ts";

/** The tools of GamePlan, without `gameplan__`. */
const TOOLS =
  "list_projects get_project create_project update_project delete_project get_project_activity " +
  "list_game_systems get_game_system create_game_system update_game_system delete_game_system " +
  "import_system_from_markdown list_brainstorms get_brainstorm create_brainstorm " +
  "delete_brainstorm get_dependency_graph add_dependency remove_dependency get_impact_analysis " +
  "list_version_plans get_version_plan create_version_plan validate_version_scope " +
  "finalize_version_plan delete_version_plan list_idea_threads get_thread_messages " +
  "create_idea_thread post_idea_message finalize_threads_to_brainstorm list_exports " +
  "generate_export list_bin get_export export_data mark_thread_read restore discard revert reopen_threads " +
  "copy_version_plan empty_bin draft_version_plan add_plan_phases clear_plan_phases " +
  "lock_threads merge_threads unlock_threads get_board arrange_systems edit_row search_project";

/** Defines how the chat shows the calls of GamePlan's tools. */
export function defineGameplanCards(): void {
  for (const tool of TOOLS.split(" ")) defineToolCard(`gameplan__${tool}`, cardOf(tool));
}

function cardOf(tool: string): ToolCard {
  const approval = APPROVALS[tool];
  return {
    title: ({ result }) => result && textOf(result, "description"),
    // The result repeats the arguments, folded.
    input: ({ state }) => (state === "failed" ? undefined : []),
    result: drawResult,
    ...(approval && { approval: () => [["p", {}, approval]] }),
  };
}

const TO_BIN = "This moves to the bin. You can restore it for 30 days.";

const APPROVALS: Readonly<Record<string, string>> = {
  delete_project: TO_BIN,
  delete_game_system: TO_BIN,
  delete_brainstorm: TO_BIN,
  delete_version_plan: TO_BIN,
  finalize_version_plan: "A finalized plan cannot change. You can copy it as a draft.",
  empty_bin: "This deletes for good. Nobody can restore it.",
};

function drawResult({ result }: ToolCardCall): readonly CardNode[] | undefined {
  if (!result) return undefined;
  const call = objectOf(result, "apiCall");
  const data = objectOf(objectOf(result, "result"), "data");
  return [...drawData(data, textOf(objectOf(call, "payload"), "projectId")), drawCall(call)];
}

/** Draws the call as it was made, so that the reader of the card can check it. */
function drawCall(call: JsonObject): CardNode {
  const payload = JSON.stringify(objectOf(call, "payload"), undefined, 2);
  return [
    "details",
    { part: "call" },
    ["summary", { part: "call-name" }, "The call as it was made"],
    ["pre", { tabindex: 0 }, ["code", {}, `${textOf(call, "service")} ${payload}`]],
  ];
}
