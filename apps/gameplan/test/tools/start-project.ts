import { addDependency } from "../../tools/dependency/add-dependency.ts";
import { createGameSystem } from "../../tools/game-system/create-game-system.ts";
import { createProject } from "../../tools/project/create-project.ts";
import { MemoryWorkspace } from "./memory-workspace.ts";

/** A project with systems of these names; the first one requires the second one, and so on. */
export function startProject(...names: string[]) {
  const workspace = new MemoryWorkspace();
  const projectId = workspace.call(createProject, { name: "Dungeon Crawler" }).project.id;
  const systems = names.map(
    (name) =>
      workspace.call(createGameSystem, { projectId, name, systemSlug: name.toLowerCase() }).system,
  );
  const ids = systems.map(({ id }) => id);
  ids.slice(1).forEach((targetSystemId, index) => {
    const sourceSystemId = ids[index] ?? "";
    workspace.call(addDependency, { sourceSystemId, targetSystemId, type: "requires" });
  });
  return { workspace, projectId, ids };
}
