import { runInDurableObject } from "cloudflare:test";
import { beforeAll, describe, expect, test } from "vitest";
import { readApprovalId } from "../../src/protocol/approval/id.ts";
import type { Principal } from "../../src/protocol/identity/principal.ts";
import type { RunMethods } from "../../src/capabilities/run.ts";
import { moved } from "../workers/lab-approvals.ts";
import {
  APPROVE,
  askFor,
  callOf,
  decide,
  ended,
  openOf,
  REJECT,
  viewOf,
} from "../shared/people.ts";
import {
  crash,
  deadlinesOf,
  rowsOf,
  stubOf,
  untilState,
  changeInvocation,
} from "../shared/run-object.ts";
import { TOKENS } from "../shared/tokens.ts";
import { seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

const BOB = {
  tenantId: TOKENS.bob.tenantId,
  actorId: "user:bob",
  roles: TOKENS.bob.roles,
  scopes: TOKENS.bob.scopes,
} as unknown as Principal;

/**
 * Sends a decision and crashes the object: before or after the decision is durable.
 */
async function decideAndCrash(
  { runId, approvalId }: { readonly runId: string; readonly approvalId: string },
  decision: object,
  isDurable: boolean,
): Promise<void> {
  const { invocation = 0, generation = 0 } = readApprovalId(approvalId) ?? {};
  const query = { invocation, generation, principal: BOB };
  await runInDurableObject(stubOf(runId), async (object, state) => {
    await (object as unknown as RunMethods).decide(query, decision as typeof APPROVE as never);
    if (isDurable) await state.storage.sync();
    state.abort("crash");
  }).catch(() => {});
}

function effectsOf(what: string): number {
  return moved.filter((effect) => effect.endsWith(what)).length;
}

describe("an object that crashes during a decision", () => {
  test("continues in its next incarnation when the decision was stored", async () => {
    const asked = await askFor([callOf("lab__archive", { what: "kept" })]);
    await decideAndCrash(asked, APPROVE, true);
    expect((await ended(asked.runId)).recoveries).toBe(1);
    expect(effectsOf("kept")).toBe(1);
  });

  test("waits in its next incarnation when the decision was lost, and accepts it again", async () => {
    const asked = await askFor([callOf("lab__archive", { what: "lost" })]);
    await decideAndCrash(asked, APPROVE, false);
    expect((await stateOf(asked.runId, "ann")).status).toBe("waiting");
    expect(await viewOf(asked.approvalId, "bob")).toMatchObject({ status: "pending", votes: [] });
    expect(await deadlinesOf(asked.runId)).toHaveProperty("approval");
    expect((await decide(asked.approvalId, "bob", APPROVE)).status).toBe(200);
    await ended(asked.runId);
    expect(effectsOf("lost")).toBe(1);
  });

  test("requests a new approval for edited arguments in its next incarnation", async () => {
    const asked = await askFor([callOf("lab__archive", { what: "old" })]);
    await decideAndCrash(asked, { ...APPROVE, arguments: { what: "edited" } }, true);
    await ended(asked.runId);
    expect([effectsOf("old"), effectsOf("edited")]).toEqual([0, 1]);
  });

  test("waits again when the crash came between the end of its loop and the wait", async () => {
    const asked = await askFor([callOf("lab__archive", { what: "restless" })]);
    await rowsOf(asked.runId, "UPDATE log SET is_waiting = 0");
    await rowsOf(asked.runId, "UPDATE log SET deadlines = '{}'");
    await crash(asked.runId);
    const state = await untilState(asked.runId, { status: "waiting" }, "ann");
    expect(openOf(state)).toEqual([asked.approvalId]);
    expect(await deadlinesOf(asked.runId)).toHaveProperty("approval");
    await decide(asked.approvalId, "bob", APPROVE);
    await ended(asked.runId);
    expect(effectsOf("restless")).toBe(1);
  });
});

describe("a dispatched call that waits for approval of another attempt", () => {
  async function askAgain(what: string) {
    const asked = await askFor([callOf("lab__archive", { what })]);
    await changeInvocation(asked.runId, 1, { dispatches: 1 });
    return asked;
  }

  test("is not withdrawn by a steering message, and its approval is requested once", async () => {
    const { runId, approvalId } = await askAgain("begun");
    const rests = "SELECT count(*) AS n FROM events WHERE body LIKE '%run_waiting%'";
    const before = await rowsOf(runId, rests);
    const said = await send(`/v1/runs/${runId}/messages`, {
      caller: "ann",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content: "hurry" }),
    });
    expect(said.status).toBe(202);
    await untilState(runId, { status: "waiting" }, "ann");
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await rowsOf(runId, rests)).toEqual(before);
    expect((await viewOf(approvalId, "bob")).status).toBe("pending");
    await decide(approvalId, "bob", REJECT);
    await ended(runId);
  });

  test("keeps its arguments when a person edits them, and its approval stays pending", async () => {
    const { approvalId } = await askAgain("fixed");
    const edit = { ...APPROVE, arguments: { what: "other" } };
    const answer = await decide(approvalId, "bob", edit);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ code: "arguments_refused" });
    expect((await viewOf(approvalId, "bob")).status).toBe("pending");
  });
});
