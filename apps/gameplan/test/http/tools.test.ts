import { ROWS, type World } from "./tool-rows.ts";
import { beforeAll, describe, expect, test } from "vitest";
import { callTool, dataOf, GAMEPLAN_IDS, governGameplan, type Data } from "../studio.ts";

let world: World;

beforeAll(async () => {
  await governGameplan();
  const make = (tool: string, args: object): Promise<Data> => dataOf("ada", tool, args);
  const project = (await make("create_project", { name: "Dungeon" })).project.id as string;
  const add = async (name: string): Promise<string> => {
    const system = { projectId: project, name, systemSlug: name.toLowerCase() };
    return (await make("create_game_system", system)).system.id as string;
  };
  const combat = await add("Combat");
  const movement = await add("Movement");
  const link = { sourceSystemId: combat, targetSystemId: movement, type: "requires" };
  await make("add_dependency", link);
  const notes = { projectId: project, title: "Day one", content: "- swords" };
  const scope = { projectId: project, version: "0.1", systemIds: [combat, movement] };
  const talk = { projectId: project, title: "Bosses", text: "A dragon?" };
  world = {
    project,
    combat,
    movement,
    spare: await add("Spare"),
    brainstorm: (await make("create_brainstorm", notes)).brainstorm.id,
    plan: (await make("create_version_plan", scope)).plan.id,
    thread: (await make("create_idea_thread", talk)).thread.id,
  };
});

test("the table names each of the 33 tools once", () => {
  expect(new Set(ROWS.map(({ tool }) => tool)).size).toBe(33);
  expect(GAMEPLAN_IDS).toEqual(expect.arrayContaining(ROWS.map(({ tool }) => `gameplan__${tool}`)));
});

describe.each(ROWS)("$tool", ({ tool, good, says, bad, code, asks = false }) => {
  test("does what it says, and asks a person where it must", async () => {
    const { status, result_payload: payload, asked } = await callTool("ada", tool, good(world));
    expect(payload.errors).toEqual([]);
    if (tool === "create_version_plan") world.draft = payload.data?.result.data.plan.id;
    expect([status.taxonomy_class, asked]).toEqual(["SUCCESS", asks]);
    expect(payload.data).toMatchObject({
      toolName: `gameplan__${tool}`,
      description: says,
      apiCall: {
        service: expect.stringMatching(/^\w+Service\.\w+$/) as string,
        payload: good(world),
      },
      result: { success: true },
      executedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/) as string,
    });
  });

  test("refuses what is wrong with its code, and asks nobody about it", async () => {
    const { result_payload: payload, asked } = await callTool("ada", tool, bad(world));
    expect(payload.data).toBeNull();
    expect([payload.errors[0]?.code, asked]).toEqual([code, false]);
  });
});

test("a refusal is a sentence for designers, and names no id", async () => {
  const { project } = await dataOf("ada", "create_project", { name: "Words" });
  const make = async (name: string) =>
    (await dataOf("ada", "create_game_system", { projectId: project.id, name, systemSlug: name }))
      .system.id as string;
  const [rope, knot] = [await make("rope"), await make("knot")];
  const link = { sourceSystemId: rope, targetSystemId: knot, type: "requires" };
  await dataOf("ada", "add_dependency", link);
  const back = { sourceSystemId: knot, targetSystemId: rope, type: "requires" };
  const plan = { projectId: project.id, version: "1", systemIds: [rope] };
  for (const [tool, args, says] of [
    ["create_project", { name: " " }, "A name needs at least one letter."],
    ["add_dependency", link, "There is such a dependency already."],
    ["add_dependency", back, "The systems would depend on each other in a circle: rope -> knot."],
    ["create_version_plan", plan, 'The plan lacks "knot", which its systems require.'],
  ] as const) {
    const { result_payload: payload } = await callTool("ada", tool, args);
    expect([tool, payload.errors[0]?.message]).toEqual([tool, says]);
  }
});

test.each(["restore", "empty_bin", "list_bin"])("no model can call %s", async (tool) => {
  const { result_payload: payload, status } = await callTool("ada", tool, {});
  expect([status.taxonomy_class, payload.data]).toEqual(["STRUCTURAL_VIOLATION", null]);
});

test("a caller who is no member of the workspace is refused before the tool runs", async () => {
  const { status } = await callTool("cleo", "list_projects", {});
  expect(status.taxonomy_class).toBe("PERMISSION_DENIED");
});
