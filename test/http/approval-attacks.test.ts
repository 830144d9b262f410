import { afterEach, describe, expect, test } from "vitest";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  askToPay,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  openOf,
  REJECT,
  viewOf,
  useApprovalLab,
} from "../shared/people.ts";
import { cancel, refusalOf, rowsOf, untilState } from "../shared/run-object.ts";
import { script } from "../fakes/scripted-model.ts";
import { postChat, runIdOf, send, stateOf } from "../shared/worker.ts";

useApprovalLab();

/** Runs that a test left waiting. */
const open: string[] = [];

afterEach(async () => {
  for (const runId of open.splice(0)) await cancel(runId, "ann");
});

async function pay(args: object = {}): Promise<string> {
  const { runId, approvalId } = await askToPay(args);
  open.push(runId);
  return approvalId;
}

/** Sends a decision whose body is exactly this text. */
function decideRaw(approvalId: string, text: string, type = "application/json"): Promise<Response> {
  return send(`/v1/approvals/${approvalId}/decisions`, {
    caller: "bob",
    method: "POST",
    headers: { "content-type": type },
    body: text,
  });
}

describe("an approval does not reveal", () => {
  test("another call of the same run, even with the same arguments", async () => {
    const call = { to: "bakery", amount: 40 };
    const { runId } = await askFor([
      callOf("lab__transfer", call, "call_1"),
      callOf("lab__transfer", call, "call_2"),
    ]);
    open.push(runId);
    const [first = "", second = ""] = openOf(await stateOf(runId, "ann"));
    await decide(first, "bob", APPROVE);
    await decide(first, "cat", APPROVE);
    await untilState(runId, { toolCalls: [{ state: "COMPLETED" }, { state: "PENDING" }] }, "ann");
    expect(await viewOf(second, "bob")).toMatchObject({ status: "pending", approvals: 0 });
    expect(moved).toEqual(["40 to bakery"]);
  });

  test("another run", async () => {
    const [mine, other] = [await pay(), await pay()];
    await decide(mine, "bob", APPROVE);
    await decide(mine, "cat", APPROVE);
    expect(await viewOf(other, "bob")).toMatchObject({ status: "pending", approvals: 0 });
  });

  test("the token of another run, planted where this one's should be", async () => {
    const { runId, approvalId } = await askToPay();
    const call = { to: "bakery", amount: 40 };
    const twin = await askFor([
      callOf("lab__transfer", call, "call_1"),
      callOf("lab__transfer", call, "call_2"),
    ]);
    for (const who of ["bob", "cat"] as const) await decide(approvalId, who, APPROVE);
    await ended(runId);
    const [{ body = "" } = {}] = await rowsOf(runId, "SELECT body FROM approvals");
    const { votes } = JSON.parse(body as string) as { votes: unknown };
    const planted = JSON.stringify(votes).replaceAll("'", "''");
    await rowsOf(
      twin.runId,
      `UPDATE approvals SET status = 'approved', body = json_set(body, '$.status', 'approved',
         '$.votes', json('${planted}')) WHERE invocation = 1`,
    );
    const [, second = ""] = (await stateOf(twin.runId, "ann")).toolCalls.map(({ invocationId }) =>
      twin.approvalId.replace(/_\d+_1$/, `_${invocationId.slice(4)}_1`),
    );
    await decide(second, "bob", REJECT);
    const { toolCalls } = await ended(twin.runId);
    expect(toolCalls[0]?.outcome).toBe("CONFIRMATION_MISSING");
    expect(moved).toEqual(["40 to bakery"]);
  });

  test.each([
    ["one byte", { to: "bakerz", amount: 40 }],
    ["a cent", { to: "bakery", amount: 40.01 }],
    ["composed and decomposed letters", { to: "bake\u0301ry", amount: 40 }],
    ["a space", { to: "bakery ", amount: 40 }],
  ])("arguments that differ by %s", async (_, args) => {
    const approvalId = await pay({ to: "bak\u00e9ry".replace("\u00e9", "e") });
    await decide(approvalId, "bob", APPROVE);
    const answer = await decide(approvalId, "cat", { ...APPROVE, arguments: args });
    expect(await answer.json()).toMatchObject({ status: "superseded" });
    const state = await untilState(open[0] ?? "", { status: "waiting" }, "ann");
    const [next = ""] = openOf(state);
    const view = await viewOf(next, "bob");
    expect(view.votes.map(({ approverId }) => approverId)).toEqual(["user:cat"]);
    expect(view.payloadHash).not.toBe((await viewOf(approvalId, "bob")).payloadHash);
    expect(moved).toEqual([]);
  });

  test.each([
    ["1.0 for 1", '{"to":"bakery","amount":1.0}'],
    ["1e0 for 1", '{"to":"bakery","amount":1e0}'],
    ["another order of keys", '{"amount":1,"to":"bakery"}'],
    ["an escaped letter", '{"to":"b\\u0061kery","amount":1}'],
  ])("but it does of the same payload in other words: %s", async (_, args) => {
    const approvalId = await pay({ amount: 1 });
    const answer = await decideRaw(approvalId, `{"decision":"approve","arguments":${args}}`);
    expect(await answer.json()).toMatchObject({ status: "pending", approvals: 1 });
  });
});

describe("after people have approved", () => {
  test("a run that began under an older policy asks under the new one, and its call runs", async () => {
    await changeGuildPolicy(GUILD_POLICY);
    const response = await postChat(
      {
        messages: [
          {
            role: "user",
            content: script(
              {
                calls: [
                  {
                    id: "call_1",
                    name: "lab__watch",
                    args: '{"what":"attack_policy","afterwards":"hold"}',
                  },
                ],
              },
              { calls: [{ id: "call_2", name: "lab__notify", args: '{"what":"newer"}' }] },
              { text: ["done"] },
            ),
          },
        ],
      },
      "ann",
    );
    const runId = runIdOf(response);
    await untilState(runId, { toolCalls: [{ toolCallId: "call_1" }] }, "ann");
    await changeGuildPolicy({ ...GUILD_POLICY, budgets: { maxCritical: 98 } });
    await fetch("http://provider.test/release/attack_policy");
    const state = await untilState(runId, { status: "waiting" }, "ann");
    const [approvalId = ""] = openOf(state);
    const { policyRevision } = await viewOf(approvalId, "ann");
    const current = await send("/v1/policy", { caller: "chief" });
    expect(policyRevision).toBe((await current.json<{ revision: number }>()).revision);
    await decide(approvalId, "ann", APPROVE);
    await ended(runId);
    expect(moved).toEqual(["notified: newer"]);
  });

  test("what was approved too long ago does not run any more", async () => {
    const { runId, approvalId } = await askToPay();
    await decide(approvalId, "bob", APPROVE);
    await rowsOf(
      runId,
      "UPDATE approvals SET body = json_set(body, '$.expiresAtMs', 1) WHERE invocation = 1",
    );
    expect(await refusalOf(await decide(approvalId, "cat", APPROVE))).toEqual([
      409,
      "approval_closed",
    ]);
    await ended(runId);
    expect(moved).toEqual([]);
  });
});
