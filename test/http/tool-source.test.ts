import { beforeEach, describe, expect, test } from "vitest";
import { toolService } from "../workers/lab-source.ts";
import { moved } from "../workers/lab-approvals.ts";
import { written } from "../workers/lab-writes.ts";
import { releaseUrl, script } from "../fakes/scripted-model.ts";
import { invoke } from "../shared/invoke.ts";
import {
  APPROVE,
  askToPay,
  callOf,
  decide,
  ended,
  useApprovalLab,
  viewOf,
} from "../shared/people.ts";
import { crash, transcriptOf, untilState } from "../shared/run-object.ts";
import { chat, postChat, runIdOf, send } from "../shared/worker.ts";

useApprovalLab();
beforeEach(() => {
  written.length = 0;
  toolService.mend();
});

const isAway = (): Promise<never> => Promise.reject(new Error("the source is away"));
const pay = (what: string, more: object = {}) => callOf("lab__pay", { what, ...more });
/** The source answers the Worker, and then nobody: the run's object asks in vain. */
const failAfterWorker = (): void =>
  toolService.change((contracts, question) =>
    question === 1 ? Promise.resolve(contracts) : isAway(),
  );

describe("a source that fails", () => {
  const json = { "content-type": "application/json" };
  test.each<[string, () => Promise<Response>]>([
    ["the list of tools", () => send("/v1/tools", { caller: "lab" })],
    ["a contract", () => send("/v1/tools/lab__pay", { caller: "lab" })],
    ["a direct call", () => invoke("lab__pay", { what: "in vain" }, { key: "in-vain" })],
    ["a chat", () => chat([{ calls: [pay("in vain")] }], "lab")],
    [
      "a policy",
      () =>
        send("/v1/policy", {
          caller: "chief",
          method: "PUT",
          headers: { ...json, "if-match": '"1"' },
          body: '{"allowedTools":[]}',
        }),
    ],
    ["a prompt history", () => send("/v1/audit?view=prompt_history", { caller: "chief" })],
  ])("answers %s with a refusal, and executes nothing", async (_what, ask) => {
    toolService.change(isAway);
    const response = await ask();
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    const body = await response.text();
    expect(JSON.parse(body)).toMatchObject({ code: "tools_unavailable" });
    expect(body).not.toContain("is away");
    expect([written, toolService.asked]).toEqual([[], 1]);
  });

  test("ends a run before the model is asked", async () => {
    failAfterWorker();
    const runId = runIdOf(await chat([{ calls: [pay("in vain")] }], "lab"));
    const state = await untilState(runId, { status: "failed" });
    expect(state.error).toMatchObject({ code: "tools_unavailable" });
    expect([state.steps, state.toolCalls, written]).toEqual([0, [], []]);
    expect(JSON.stringify(state)).not.toContain("is away");
  });

  test("ends a direct call with a refusal", async () => {
    // The Worker asks once for the claim.
    failAfterWorker();
    const response = await invoke("lab__pay", { what: "in vain" }, { key: "in-vain-once" });
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ code: "tools_unavailable" });
    expect(written).toEqual([]);
  });

  test("after a crash repeats no write, and reports its outcome as unknown", async () => {
    const calls = [pay("source-crash", { afterwards: "hold" })];
    const response = await chat([{ calls }, { text: ["end"] }], "lab");
    const runId = runIdOf(response);
    await expect.poll(() => written).toHaveLength(1);
    toolService.change(isAway);
    await Promise.all([crash(runId), response.text().catch(() => {})]);
    const state = await untilState(runId, { status: "failed" });
    expect(state).toMatchObject({
      error: { code: "tools_unavailable" },
      toolCalls: [{ state: "EXPIRED" }],
    });
    const answer = (await transcriptOf(runId, "lab")).at(-1);
    expect(answer).toMatchObject({ role: "tool", toolCallId: "call_1" });
    await fetch(releaseUrl("source-crash"));
    expect(written).toHaveLength(1);
  });

  test.each([
    ["an approval", APPROVE],
    ["an edit", { ...APPROVE, arguments: { to: "bakery", amount: 25 } }],
  ])("leaves %s undecided, and the next one counts", async (_what, decision) => {
    const { runId, approvalId } = await askToPay();
    toolService.change(isAway);
    for (const approver of ["bob", "cat"] as const) {
      const response = await decide(approvalId, approver, decision);
      expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
      expect(await response.json()).toMatchObject({ code: "tools_unavailable" });
    }
    expect(await viewOf(approvalId, "bob")).toMatchObject({ status: "pending", approvals: 0 });
    expect(moved).toEqual([]);
    toolService.mend();
    for (const approver of ["bob", "cat"] as const) await decide(approvalId, approver, APPROVE);
    await ended(runId, "ann");
    expect(moved).toHaveLength(1);
  });
});

test("a run keeps the tools that it got, whatever the source answers later", async () => {
  // The Worker asks first, the run second. Nobody else gets a tool.
  toolService.change((contracts, question) => Promise.resolve(question <= 2 ? contracts : []));
  const step = (what: string) => ({ calls: [{ ...pay(what), id: `call_${what}` }] });
  const content = script(step("first"), step("second"), { text: ["end"] });
  const body = { messages: [{ role: "user", content }], toolIds: ["lab__pay"] };
  const response = await postChat(body, "lab");
  const { status, toolCalls } = await ended(runIdOf(response), "lab");
  expect([status, toolCalls.map(({ state }) => state)]).toEqual([
    "completed",
    ["COMPLETED", "COMPLETED"],
  ]);
  expect([written, toolService.asked]).toEqual([["pay: first", "pay: second"], 2]);
});
