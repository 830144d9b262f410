import { beforeAll, expect, test } from "vitest";
import {
  callTool,
  dataOf,
  GAMEPLAN_IDS,
  GAMEPLAN_POLICY,
  governGameplan,
} from "../../shared/gameplan.ts";
import { governStudio } from "../../shared/workspaces.ts";

let projectId = "";
let systemIds: string[] = [];

beforeAll(async () => {
  await governGameplan();
  projectId = (await dataOf("ada", "create_project", { name: "Dungeon" })).project.id as string;
  const system = { projectId, name: "Combat", systemSlug: "combat" };
  systemIds = [(await dataOf("ada", "create_game_system", system)).system.id as string];
});

test("a version plan whose phases fail leaves no plan, only a discarded draft", async () => {
  const without = "gameplan__add_plan_phases";
  const allowedTools = GAMEPLAN_IDS.filter((id) => id !== without);
  await governStudio({ ...GAMEPLAN_POLICY, allowedTools });
  const args = { projectId, version: "0.1", systemIds };
  const { status, result_payload: payload } = await callTool("ada", "create_version_plan", args);
  expect(status.taxonomy_class).toBe("POLICY_VIOLATION");
  expect(payload.errors.at(-1)?.code).toBe("saga_undone");
  await governGameplan();
  expect((await dataOf("ada", "list_version_plans", { projectId })).total).toBe(0);
  // The version is free again.
  const { plan } = await dataOf("ada", "create_version_plan", args);
  expect(plan).toMatchObject({ version: "0.1", revision: 1, systems: 1, phases: [{ number: 1 }] });
});

test("a version plan that is refused leaves not even a draft", async () => {
  const activity = async (): Promise<number> =>
    (await dataOf("ada", "get_project_activity", { projectId })).total as number;
  const before = await activity();
  const args = {
    projectId,
    version: "0.2",
    systemIds,
    phases: [{ name: "One", systemIds: ["x"] }],
  };
  const { result_payload: payload } = await callTool("ada", "create_version_plan", args);
  expect(payload.errors.map(({ code }) => code)).toEqual(["validation", "saga_undone"]);
  expect(await activity()).toBe(before);
});
