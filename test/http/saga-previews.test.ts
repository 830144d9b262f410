import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { script } from "../fakes/scripted-model.ts";
import { APPROVE, decide, openOf, viewOf } from "../shared/people.ts";
import { untilState } from "../shared/run-object.ts";
import { postChat, runIdOf } from "../shared/worker.ts";
import { callItems, governStudio, itemNames } from "../shared/workspaces.ts";
import { ran } from "../workers/lab-workspaces.ts";

const SAGA = "lab__keep_agreed";
const POLICY = {
  allowedTools: [SAGA, "lab__keep_item", "lab__show_items"],
  workspaces: { studio: { actors: ["user:ada"] }, attic: { actors: ["user:ada"] } },
};

beforeAll(() => governStudio(POLICY));
beforeEach(() => void (ran.length = 0));

/** Lets the model ask for one call, and waits until a person is asked. */
async function ask(tool: string, args: object, workspaceId = "studio") {
  const asked = { id: "call_1", name: tool, args: JSON.stringify(args) };
  const content = script({ calls: [asked] }, { text: ["ok"] });
  const body = { messages: [{ role: "user", content }], workspaceId };
  const response = await postChat(body, "ada");
  await response.text();
  const runId = runIdOf(response);
  const [approvalId = "none"] = openOf(await untilState(runId, { status: "waiting" }, "ada"));
  return { runId, approvalId, view: await viewOf(approvalId, "ada") };
}

async function approve({ runId, approvalId }: { runId: string; approvalId: string }) {
  expect((await decide(approvalId, "ada", APPROVE)).status).toBe(200);
  return untilState(runId, { status: "completed" }, "ada");
}

const keep = (name: string): Promise<unknown> =>
  callItems({ caller: "ada", tool: "lab__keep_item", args: { name }, workspaceId: "studio" });

describe("the approval of a saga", () => {
  test("shows what its preview read in the workspace, redacted, before any step is made", async () => {
    await keep("lamp");
    const asked = await ask(SAGA, { name: "chair" });
    expect(ran).toEqual(["lamp"]);
    expect(asked.view.packet).toMatchObject({
      beforeState: { items: ["lamp"] },
      afterState: { items: ["lamp", "chair"] },
      steps: [{ tool: "lab__keep_item", payload: { arguments: { shown: { name: "chair" } } } }],
    });
    expect(JSON.stringify(asked.view)).not.toMatch(/s-[12]/);
    const texts = asked.view.lines.map(({ field, text }) => `${field} ${text}`);
    expect(texts).toEqual(expect.arrayContaining(["beforeState lamp", "afterState chair"]));
    const { toolCalls } = await approve(asked);
    expect(toolCalls.map(({ state }) => state)).toEqual(["COMPLETED", "COMPLETED"]);
    expect(await itemNames("ada", "studio")).toEqual(["lamp", "chair"]);
  });

  test.each(["write", "throw"])(
    "says that the state is not known when the preview tries to %s, and nothing is written",
    async (how) => {
      const before = await itemNames("ada", "studio");
      const { view } = await ask(SAGA, { name: `kept after ${how}`, how });
      expect(view.packet).toMatchObject({ beforeState: null, afterState: null });
      expect(await itemNames("ada", "studio")).toEqual(before);
    },
  );

  test("asks again where what its preview showed has changed, and marks it", async () => {
    const asked = await ask(SAGA, { name: "stool" });
    await keep("sofa");
    expect((await decide(asked.approvalId, "ada", APPROVE)).status).toBe(200);
    const approvalId = asked.approvalId.replace(/1$/, "2");
    await untilState(asked.runId, { status: "waiting", toolCalls: [{ approvalId }] }, "ada");
    const { lines } = await viewOf(approvalId, "ada");
    expect(lines.filter(({ field }) => field === "changedShown")).toContainEqual(
      expect.objectContaining({ text: 'was absent, is now "sofa"' }),
    );
    expect(await itemNames("ada", "studio")).not.toContain("stool");
    await approve({ ...asked, approvalId });
    expect(await itemNames("ada", "studio")).toContain("stool");
  });

  test("counts the vote of an approver who edits the saga", async () => {
    const asked = await ask(SAGA, { name: "desc" });
    const edit = { ...APPROVE, arguments: { name: "desk" } };
    expect((await decide(asked.approvalId, "ada", edit)).status).toBe(200);
    const { toolCalls } = await untilState(asked.runId, { status: "completed" }, "ada");
    expect(toolCalls.map(({ state }) => state)).toEqual(["COMPLETED", "COMPLETED"]);
    expect(await itemNames("ada", "studio")).toContain("desk");
    const next = await viewOf(asked.approvalId.replace(/1$/, "2"), "ada");
    expect(next).toMatchObject({ status: "approved", votes: [{ approverId: "user:ada" }] });
  });

  test("does not let the saga run on a state that has changed meanwhile", async () => {
    const asked = await ask(SAGA, { name: "table" });
    await keep("table");
    const { toolCalls } = await approve(asked);
    expect(toolCalls).toMatchObject([
      { name: SAGA, state: "FAILED_FINAL", outcome: "STALE_STATE", attempts: 1 },
    ]);
    expect(toolCalls).toHaveLength(1);
    expect((await itemNames("ada", "studio")).filter((name) => name === "table")).toHaveLength(1);
  });
});

test.each([[SAGA], ["lab__keep_item"]])(
  "the approval of %s names the workspace where it acts",
  async (tool) => {
    const policy = { ...POLICY, approvals: [{ tools: [tool], pattern: "user_consent" }] };
    await governStudio(policy);
    for (const workspaceId of ["studio", "attic"]) {
      const { view } = await ask(tool, { name: `${tool} in ${workspaceId}` }, workspaceId);
      expect(view.packet.workspaceId).toBe(workspaceId);
      expect(view.lines).toContainEqual(
        expect.objectContaining({ field: "workspaceId", label: "Workspace", text: workspaceId }),
      );
    }
    await governStudio(POLICY);
  },
);
