import { beforeAll, expect, test } from "vitest";
import { APPROVE, decide, openOf } from "../../../../test/shared/people.ts";
import { untilState } from "../../../../test/shared/run-object.ts";
import type { Caller } from "../../../../test/shared/worker.ts";
import { governStudio } from "../../../../test/shared/workspaces.ts";
import { GAMEPLAN_POLICY, type Data } from "../studio.ts";
import { readPicture } from "./team-picture.ts";
import { Team, type Called, type Way } from "./teammate.ts";

/** A final version takes another designer than the one who asks. */
const BY_ANOTHER = {
  tools: ["gameplan__finalize_version_plan"],
  pattern: "operator_review",
  roles: ["designer"],
};

beforeAll(() => governStudio({ ...GAMEPLAN_POLICY, approvals: [BY_ANOTHER] }));

const team = new Team("studio");

type Made = readonly [caller: Caller, way: Way, tool: string, args: object];

async function make(...[caller, way, tool, args]: Made): Promise<Data> {
  const { result_payload: payload } = await team.call({ caller, way, tool, args });
  if (!payload.data) throw new Error(`${tool}: ${JSON.stringify(payload.errors)}`);
  return payload.data.result.data;
}

/** Makes a call that has to be refused, and that nobody may be asked about. */
async function refusal(...[caller, way, tool, args]: Made): Promise<string> {
  const { asked, result_payload: payload } = await team.call({ caller, way, tool, args });
  expect([tool, asked]).toEqual([tool, false]);
  return payload.errors[0]?.message ?? "no refusal";
}

/** The game, as far as it is. */
interface Game {
  readonly projectId: string;
  readonly light: string;
  readonly power: string;
  readonly fog: string;
}

test("two people plan a game from nothing to a final version, by chat and by hand", async () => {
  const game = await beginGame();
  await linkSystems(game);
  await talkAboutStorms(game);
  await editAtOnce(game);
  await deleteAndTakeBack(game);
  await finalize(game, await draft(game));
  await readBack(game);
  const ofAda = await readPicture(team, "ada", game.projectId);
  expect(await readPicture(team, "kim", game.projectId)).toEqual(ofAda);
  const told = (ofAda["activity"] as Data[]).map(({ actor, summary }) => `${actor}: ${summary}`);
  expect(told.toReversed()).toEqual(TOLD);
});

async function beginGame(): Promise<Game> {
  const created = await make("ada", "model", "create_project", { name: "Lighthouse" });
  const projectId: string = created.project.id;
  const add = async (caller: Caller, way: Way, name: string): Promise<string> => {
    const system = { projectId, name, systemSlug: name.toLowerCase() };
    return (await make(caller, way, "create_game_system", system)).system.id;
  };
  const light = await add("kim", "hand", "Light");
  const power = await add("kim", "hand", "Power");
  return { projectId, light, power, fog: await add("ada", "model", "Fog") };
}

async function linkSystems({ light, power, fog }: Game): Promise<void> {
  const link = (sourceSystemId: string, targetSystemId: string, type: string) => ({
    sourceSystemId,
    targetSystemId,
    type,
  });
  await make("ada", "model", "add_dependency", link(light, power, "requires"));
  await make("kim", "hand", "add_dependency", link(fog, light, "enhances"));
  const circle = await refusal("kim", "hand", "add_dependency", link(power, fog, "requires"));
  expect(circle).toContain("in a circle: Fog -> Light -> Power");
}

async function talkAboutStorms({ projectId }: Game): Promise<void> {
  const talk = { projectId, title: "Storms", text: "Do storms hide the light?" };
  const threadId: string = (await make("kim", "hand", "create_idea_thread", talk)).thread.id;
  await make("ada", "model", "post_idea_message", { threadId, text: "Only for ten seconds." });
  const { thread } = await make("kim", "hand", "get_thread_messages", { threadId });
  expect([thread.messageCount, thread.unreadCount]).toEqual([2, 1]);
  const outputs = [{ kind: "decision", text: "A storm hides the light for ten seconds." }];
  const notes = { projectId, threadIds: [threadId], title: "Storm day", outputs };
  const made = await make("ada", "model", "finalize_threads_to_brainstorm", notes);
  expect(made.brainstorm.outputs).toMatchObject(outputs);
  const late = await refusal("kim", "hand", "post_idea_message", { threadId, text: "And fog?" });
  expect(late).toBe("This thread is closed.");
}

/** Both edit one system. The second one sees that, and nothing is overwritten. */
async function editAtOnce({ light: systemId }: Game): Promise<void> {
  const read = async (): Promise<Data> =>
    (await make("kim", "hand", "get_game_system", { systemId })).system;
  const { revision } = await read();
  const purpose = "Shows ships the way.";
  const byAda = { systemId, changeSummary: "Why", purpose, revision };
  await make("ada", "model", "update_game_system", byAda);
  const coreMechanics = "- The beam turns.\n- It needs **power**.";
  const byKim = { systemId, changeSummary: "How", coreMechanics, revision };
  const stale = await refusal("kim", "hand", "update_game_system", byKim);
  expect(stale).toBe('The game system "Light" changed since it was read. Read it again.');
  const { revision: newest } = await read();
  await make("kim", "hand", "update_game_system", { ...byKim, revision: newest });
  expect(await read()).toMatchObject({ purpose, coreMechanics });
}

async function deleteAndTakeBack({ projectId, power: systemId }: Game): Promise<void> {
  const edges = async (): Promise<number> =>
    (await make("kim", "hand", "get_dependency_graph", { projectId })).edgeTotal;
  const deletion = { tool: "delete_game_system", args: { systemId, revision: 1 } };
  const deleted = await team.call({ caller: "ada", way: "model", ...deletion });
  expect([deleted.asked, await edges()]).toEqual([true, 1]);
  expect(await team.undo(deleted, "ada")).toBe("undone");
  expect(await edges()).toBe(2);
}

async function draft({ projectId, light, power, fog }: Game): Promise<Data> {
  const plan = { projectId, version: "0.1", name: "First light" };
  const incomplete = { ...plan, systemIds: [light, fog] };
  const lacks = await refusal("ada", "model", "create_version_plan", incomplete);
  expect(lacks).toContain('The plan lacks "Power"');
  const whole = { ...plan, systemIds: [light, power, fog] };
  return (await make("ada", "model", "create_version_plan", whole)).plan;
}

async function finalize({ projectId }: Game, { id: planId, revision }: Data): Promise<void> {
  const call = { tool: "finalize_version_plan", args: { planId, revision } };
  const runId = await team.start({ caller: "ada", way: "model", ...call });
  const [approvalId = ""] = openOf(await untilState(runId, { status: "waiting" }, "ada"));
  // Nobody agrees to a final version of their own.
  expect((await decide(approvalId, "ada", APPROVE)).status).toBe(403);
  const finalized: Called = await team.finish(runId, { caller: "ada", approver: "kim" });
  expect(finalized.status.taxonomy_class).toBe("SUCCESS");
  const deletion = { planId, revision: revision + 1 };
  const kept = await refusal("kim", "hand", "delete_version_plan", deletion);
  expect(kept).toContain("final");
  const { items } = await make("kim", "hand", "list_version_plans", { projectId });
  expect(items).toMatchObject([{ version: "0.1", status: "finalized", systems: 3 }]);
}

/** The design document has all, and a system of it is a system again in another game. */
async function readBack({ projectId, light }: Game): Promise<void> {
  const kind = "GDD";
  const { export: made } = await make("kim", "hand", "generate_export", { projectId, kind });
  const { text } = await make("ada", "hand", "get_export", { exportId: made.id });
  for (const part of ["Power", "Fog", "First light", "finalized"]) expect(text).toContain(part);
  const [, markdown] = /^(### \d+\. Light\n.*?)(?=^#{2,3} )/ms.exec(text as string) ?? [];
  const other = await make("kim", "hand", "create_project", { name: "Harbour" });
  const file = { projectId: other.project.id, markdown, fileName: "light.md" };
  const { system } = await make("kim", "hand", "import_system_from_markdown", file);
  const { system: written } = await make("ada", "hand", "get_game_system", { systemId: light });
  expect(system).toMatchObject({
    coreMechanics: written.coreMechanics,
    purpose: expect.stringContaining(written.purpose as string) as string,
  });
}

/** What happened, as both read it, the first change first. */
const TOLD: readonly string[] = [
  'user:ada: Created project "Lighthouse"',
  'user:kim: Created game system "Light" (light)',
  'user:kim: Created game system "Power" (power)',
  'user:ada: Created game system "Fog" (fog)',
  "user:ada: Added dependency: Light requires Power",
  "user:kim: Added dependency: Fog enhances Light",
  'user:kim: Started idea thread "Storms"',
  'user:ada: Posted in idea thread "Storms"',
  'user:ada: Created brainstorm "Storm day"',
  'user:ada: Finalized idea thread "Storms" into brainstorm "Storm day"',
  'user:ada: Updated game system "Light": Why',
  'user:kim: Updated game system "Light": How',
  'user:ada: Deleted game system "Power"',
  'user:ada: Restored game system "Power"',
  "user:ada: Created version plan 0.1",
  "user:ada: Finalized version plan 0.1",
  'user:kim: Generated GDD "Lighthouse: Game design document"',
];
