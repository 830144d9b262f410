import { abortAllDurableObjects } from "cloudflare:test";
import * as fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { sampleOfRuns } from "../../../../test/shared/sample.ts";
import type { Caller } from "../../../../test/shared/worker.ts";
import { governStudio } from "../../../../test/shared/workspaces.ts";
import { GAMEPLAN_POLICY } from "../studio.ts";
import { readPicture, withoutIds } from "./team-picture.ts";
import { argsOf, BY_HAND, FIRST_STEPS, Made, steps, type Step } from "./team-steps.ts";
import { Team, type Way } from "./teammate.ts";

const TEAM = { actors: ["user:ada"], roles: ["designer"] };

beforeAll(() => governStudio({ ...GAMEPLAN_POLICY, workspaces: { first: TEAM, second: TEAM } }));

/** How each person works. */
type Ways = Readonly<Partial<Record<Caller, Way>>>;

/** Plans a game in a project of its own, and tells all that is there at the end. */
async function plan(team: Team, ways: Ways, planned: readonly Step[]): Promise<object> {
  const { result_payload: payload } = await team.call({
    caller: "ada",
    way: ways.ada ?? "hand",
    tool: "create_project",
    args: { name: "Dungeon" },
  });
  const made = new Made(payload.data?.result.data.project.id);
  const ends: unknown[] = [];
  for (const step of [...FIRST_STEPS, ...planned])
    ends.push(await take(team, { made, ways, step }));
  const picture = await readPicture(team, "ada", made.projectId);
  const ofKim = await readPicture(team, "kim", made.projectId);
  expect(ofKim).toEqual(picture);
  return { ends, picture };
}

interface Turn {
  readonly made: Made;
  readonly ways: Ways;
  readonly step: Step;
}

/** Takes one step. Returns how it ended, as its caller reads it. */
async function take(team: Team, { made, ways, step }: Turn): Promise<unknown> {
  const { caller, kind, crash, at } = step;
  if (crash === "everything") await abortAllDurableObjects();
  const atWrite = crash === "everything" ? undefined : crash;
  if (kind === "undo") {
    const own = made.changes.filter((one) => one.caller === caller);
    const [chosen] = own.slice(at % Math.max(own.length, 1));
    return chosen && [kind, await team.undo(chosen.called, caller, atWrite)];
  }
  const args = argsOf(made, { ...step, kind });
  const own = ways[caller] ?? "hand";
  // What is by hand in both games crashes in one of them.
  const [way, planned] = BY_HAND.has(kind)
    ? (["hand", own === "hand" ? atWrite : undefined] as const)
    : [own, atWrite];
  const called = await team.call({ caller, way, tool: kind, args, crash: planned });
  made.learn(caller, called);
  if (kind === "import_system_from_markdown") {
    const { edges } = await team.read(caller, "get_board", { projectId: made.projectId });
    made.learnEdges(edges);
  }
  const { status, asked, result_payload: payload } = called;
  return [kind, status.taxonomy_class, asked, payload.errors, payload.data];
}

test("a game is the same by hand and by chat, for both readers, over any steps and crashes", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (planned) => {
      const first = await plan(new Team("first"), { ada: "hand", kim: "model" }, planned);
      const second = await plan(new Team("second"), { ada: "model", kim: "hand" }, planned);
      expect(withoutIds(second)).toBe(withoutIds(first));
    }),
    { ...sampleOfRuns(12), endOnFailure: true },
  );
}, 900_000);
