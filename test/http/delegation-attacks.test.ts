import { afterEach, beforeAll, describe, expect, test } from "vitest";
import { APPROVE, askFor, callOf, decide, readApproval } from "../shared/people.ts";
import { cancel } from "../shared/run-object.ts";
import { type Caller, chat, postChat, runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const JSON_BODY = { method: "POST", headers: { "content-type": "application/json" } } as const;
const UNKNOWN = `run_${"ab".repeat(16)}_${"cd".repeat(16)}`;

const open: Response[] = [];
afterEach(async () => {
  for (const response of open.splice(0)) {
    await cancel(runIdOf(response), "warden");
    await response.text();
  }
});

/** Starts a run that does not end. */
async function begin(caller: Caller): Promise<string> {
  const response = await chat([{ text: ["a secret plan"], hangs: true }], caller);
  open.push(response);
  return runIdOf(response);
}

/** Sends every request that reads, steers, stops or continues a run. */
async function tryAll(runId: string, caller: Caller): Promise<readonly unknown[]> {
  const messages = [{ role: "user", content: "x" }];
  const answers = [
    await send(`/v1/runs/${runId}`, { caller }),
    await send(`/v1/runs/${runId}/events`, { caller, headers: { "last-event-id": "0-1" } }),
    await send(`/v1/runs/${runId}/messages`, { ...JSON_BODY, caller, body: '{"content":"x"}' }),
    await postChat({ messages, previousRunId: runId }, caller),
    await send(`/v1/runs/${runId}/cancel`, { caller, method: "POST" }),
  ];
  return Promise.all(answers.map(async (answer) => [answer.status, await answer.text()]));
}

const idsOf = async (path: string, caller: Caller): Promise<readonly string[]> => {
  const answer = await send(path, { caller });
  const { runs = [], approvals = [] } = await answer.json<{
    runs?: readonly { runId: string }[];
    approvals?: readonly { runId: string }[];
  }>();
  return [...runs, ...approvals].map(({ runId }) => runId);
};

describe("an agent that acts for a person", () => {
  test.each<[Caller, string, Caller]>([
    ["scribe", "the person began", "ann"],
    ["scribe", "another agent of the person began", "porter"],
    ["evesScribe", "the same agent began for another person", "scribe"],
  ])("%s neither reads nor operates a run that %s", async (agent, _began, owner) => {
    const runId = await begin(owner);
    expect(await tryAll(runId, agent)).toEqual(await tryAll(UNKNOWN, agent));
    expect(await (await send(`/v1/runs/${runId}`, { caller: owner })).json()).toMatchObject({
      status: "running",
    });
  });

  test("reads, steers and stops the runs that it began for the person", async () => {
    const runId = await begin("scribe");
    const statuses = (await tryAll(runId, "scribe")).map((answer) => (answer as number[])[0]);
    expect(statuses.filter((status) => status === 404)).toEqual([]);
    const state = await send(`/v1/runs/${runId}`, { caller: "ann" });
    expect(await state.json()).toMatchObject({ status: "cancelled" });
  });

  test("reads and stops other runs only with a scope for all runs", async () => {
    const runId = await begin("ann");
    expect((await send(`/v1/runs/${runId}`, { caller: "warden" })).status).toBe(200);
    const steered = await send(`/v1/runs/${runId}/messages`, {
      ...JSON_BODY,
      caller: "warden",
      body: '{"content":"x"}',
    });
    expect(steered.status).toBe(404);
    const stopped = await send(`/v1/runs/${runId}/cancel`, { caller: "warden", method: "POST" });
    expect(await stopped.json()).toMatchObject({ status: "cancelled" });
  });

  test("lists the runs that it began for the person, and no others", async () => {
    const [own, ...others] = [await begin("scribe"), await begin("ann"), await begin("porter")];
    const all = (ids: readonly string[]): boolean => others.every((id) => ids.includes(id));
    await expect.poll(async () => all(await idsOf("/v1/runs?limit=100", "ann"))).toBe(true);
    await expect.poll(() => idsOf("/v1/runs?limit=100", "scribe")).toContain(own);
    const listed = await idsOf("/v1/runs?limit=100", "scribe");
    expect(listed.filter((id) => others.includes(id))).toEqual([]);
    expect(await idsOf("/v1/runs?actor=user:ann", "scribe")).toEqual([]);
    expect(await idsOf("/v1/runs?actor=agent:porter", "scribe")).toEqual([]);
  });

  test("sees the approvals of the runs that it began for the person, and no others", async () => {
    const own = await askFor([callOf("lab__notify", { what: "hi" })], "scribe");
    const other = await askFor([callOf("lab__notify", { what: "a secret" })], "ann");
    expect((await readApproval(own.approvalId, "scribe")).status).toBe(200);
    expect((await decide(own.approvalId, "scribe", APPROVE)).status).toBe(403);
    for (const agent of ["scribe", "porter", "evesScribe"] as const) {
      expect((await readApproval(other.approvalId, agent)).status).toBe(404);
      expect((await decide(other.approvalId, agent, APPROVE)).status).toBe(404);
    }
    expect((await readApproval(own.approvalId, "evesScribe")).status).toBe(404);
    await expect.poll(() => idsOf("/v1/approvals", "ann")).toContain(other.runId);
    await expect.poll(() => idsOf("/v1/approvals", "scribe")).toEqual([own.runId]);
    expect(await idsOf("/v1/approvals?mine=true", "scribe")).toEqual([own.runId]);
    expect(await idsOf("/v1/approvals", "porter")).toEqual([]);
    open.push(own.response, other.response);
  });
});
