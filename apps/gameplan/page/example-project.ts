import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { objectOf, textOf } from "./read-json.ts";

/** Calls a tool that writes; undefined when it did not succeed. */
type Act = (tool: string, args: JsonObject) => Promise<JsonObject | undefined>;

const SYSTEMS = [
  {
    name: "Movement",
    systemSlug: "movement",
    mvpCriticality: "core",
    status: "active",
    purpose: "The hero walks, runs and dodges through rooms of one screen.",
    coreMechanics: "Eight directions. A dodge costs stamina and makes the hero safe for a moment.",
  },
  {
    name: "Room Generator",
    systemSlug: "room-generator",
    mvpCriticality: "core",
    status: "draft",
    purpose: "Builds a new dungeon of linked rooms for every run.",
    openQuestions: "How many rooms does a run of twenty minutes need?",
  },
  {
    name: "Inventory",
    systemSlug: "inventory",
    mvpCriticality: "important",
    status: "draft",
    purpose: "Six slots for what the hero finds.",
  },
  {
    name: "Treasure",
    systemSlug: "treasure",
    mvpCriticality: "later",
    status: "draft",
    purpose: "Chests and drops, rarer in deeper rooms.",
  },
] as const;

/** Source, type and target, by the place in SYSTEMS. */
const DEPENDENCIES = [
  [1, "requires", 0],
  [3, "requires", 2],
  [3, "enhances", 1],
] as const;

/**
 * Makes a small project with the same tools that the assistant uses. Calls `onMade` once the
 * project is there, before it has anything. Stops at the first call that does not succeed.
 */
export async function makeExampleProject(
  act: Act,
  onMade: (projectId: string) => Promise<void>,
): Promise<void> {
  const made = await act("create_project", {
    name: "Dungeon Crawler",
    description: "A short dungeon that is new in every run.",
    genre: "Roguelike",
    platform: "PC",
    status: "active",
  });
  if (!made) return;
  const projectId = textOf(objectOf(made, "project"), "id");
  await onMade(projectId);
  const ids: string[] = [];
  for (const system of SYSTEMS) {
    const answer = await act("create_game_system", { projectId, ...system });
    if (!answer) return;
    ids.push(textOf(objectOf(answer, "system"), "id"));
  }
  for (const [source, type, target] of DEPENDENCIES) {
    const ends = { sourceSystemId: ids[source] ?? "", targetSystemId: ids[target] ?? "" };
    if (!(await act("add_dependency", { ...ends, type }))) return;
  }
  const title = "What makes a room worth a visit?";
  const text = "Every room needs one decision: fight, flee or gamble.";
  await act("create_idea_thread", { projectId, title, text });
}
