import { beforeAll, beforeEach, expect, test } from "vitest";
import { abortAllDurableObjects } from "cloudflare:test";
import { releaseUrl } from "../fakes/scripted-model.ts";
import { crash, untilState } from "../shared/run-object.ts";
import { runIdOf } from "../shared/worker.ts";
import { callItems, governStudio, itemNames, startItemCall } from "../shared/workspaces.ts";
import { ran } from "../workers/lab-workspaces.ts";

const POLICY = {
  allowedTools: ["lab__keep_item", "lab__show_items"],
  workspaces: { studio: { actors: ["user:ada"] } },
};
const keep = "lab__keep_item";

beforeAll(() => governStudio(POLICY));
beforeEach(() => void (ran.length = 0));

/** Starts a write whose tool waits after the write, and answers once the write has happened. */
async function writeAndHold(args: {
  readonly name: string;
  readonly how?: string;
}): Promise<string> {
  const held = { ...args, afterwards: "hold" };
  const started = await startItemCall({ caller: "ada", tool: keep, args: held });
  void started.text().catch(() => {});
  await expect.poll(() => ran).toContain(args.name);
  return runIdOf(started);
}

test("a run that crashes after its write ends with the result of that write, and asks nobody", async () => {
  const runId = await writeAndHold({ name: "survivor" });
  await crash(runId);
  await fetch(releaseUrl("survivor"));
  const state = await untilState(runId, { status: "completed" }, "ada");
  expect(state.toolCalls).toMatchObject([{ state: "COMPLETED", outcome: "SUCCESS" }]);
  expect(ran).toEqual(["survivor"]);
  expect((await itemNames("ada")).filter((name) => name === "survivor")).toHaveLength(1);
});

test("a run that crashes after a refused write learns the refusal, and asks nobody", async () => {
  const runId = await writeAndHold({ name: "refused", how: "fail" });
  await crash(runId);
  await fetch(releaseUrl("refused"));
  const state = await untilState(runId, { status: "completed" }, "ada");
  expect(state.toolCalls).toMatchObject([{ outcome: "SEMANTIC_INVALIDITY" }]);
  expect(ran).toEqual(["refused"]);
  expect(await itemNames("ada")).not.toContain("refused");
});

test("a crash of everything keeps the row and its ledger row", async () => {
  const runId = await writeAndHold({ name: "both" });
  await abortAllDurableObjects();
  await fetch(releaseUrl("both"));
  const state = await untilState(runId, { status: "completed" }, "ada");
  expect(state.toolCalls).toMatchObject([{ state: "COMPLETED", outcome: "SUCCESS" }]);
  expect((await itemNames("ada")).filter((name) => name === "both")).toHaveLength(1);
});

test("a tool that breaks after its write ends as done, without an operator", async () => {
  const args = { name: "unreported", afterwards: "throw" };
  const observed = await callItems({ caller: "ada", tool: keep, args });
  expect(observed.status.taxonomy_class).toBe("OBSERVATION_NORMALIZATION_FAIL");
  expect(await itemNames("ada")).toContain("unreported");
});
