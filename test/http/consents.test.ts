import { abortAllDurableObjects } from "cloudflare:test";
import { beforeEach, describe, expect, test } from "vitest";
import type { ConsentView } from "../../src/protocol/consent/consent.ts";
import { script } from "../fakes/scripted-model.ts";
import { putAssistant } from "../shared/assistants.ts";
import { forgetPlans, planIncarnation, type CrashPlan } from "../shared/crash-points.ts";
import {
  APPROVE,
  askFor,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  readApproval,
  useApprovalLab,
  viewOf,
  type Call,
} from "../shared/people.ts";
import { cancel, untilState } from "../shared/run-object.ts";
import {
  bindings,
  chat,
  postChat,
  putPolicy,
  runIdOf,
  send,
  stateOf,
  type Caller,
} from "../shared/worker.ts";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";
import { sampleOfGroups } from "../shared/sample.ts";

replayEachRun();

useApprovalLab();

const OFFER = { within: "assistant", maxCalls: 9, maxSeconds: 86_400, sameFields: ["/what"] };
const CONSENT = { tools: ["lab__archive"], pattern: "user_consent", lasting: OFFER };
const SAGA = ["lab__confirmed_journey", "lab__confirmed_room", "lab__confirmed_train"];
const HERE = { ...APPROVE, lasting: {} };
const EVERYWHERE = { ...APPROVE, lasting: { within: "assistant" } };

/** Puts rules into the policy of the guild, with tools and delegations for these tests. */
const withRules = (approvals: readonly object[], change: object = {}): Promise<void> =>
  changeGuildPolicy({
    ...GUILD_POLICY,
    allowedTools: [...GUILD_POLICY.allowedTools, "lab__greet", "lab__reimburse"],
    delegations: [
      { actorId: "agent:scribe", subjectId: "user:ann", tools: ["lab__archive"] },
      { actorId: "agent:porter", subjectId: "user:ann", tools: ["lab__archive"] },
    ],
    approvals,
    ...change,
  });

beforeEach(() => withRules([CONSENT]));
const archive = (what: string, pin?: string): Call =>
  callOf("lab__archive", { what, ...(pin !== undefined && { pin }) });

async function consentsOf(caller: Caller, query = ""): Promise<readonly ConsentView[]> {
  const answer = await send(`/v1/consents${query}`, { caller });
  expect(answer.status).toBe(200);
  return (await answer.json<{ consents: readonly ConsentView[] }>()).consents;
}

const revoke = (id: string, caller: Caller): Promise<Response> =>
  send(`/v1/consents/${id}`, { caller, method: "DELETE" });

/** Consents to a call of ann, and lets it run; answers the consent and the run. */
async function consent(call: Call, vote: object = EVERYWHERE) {
  const { runId, approvalId } = await askFor([call]);
  const answer = await decide(approvalId, "ann", vote);
  expect(answer.status).toBe(200);
  await ended(runId);
  const id = approvalId.replace("appr_", "cons_");
  return { runId, approvalId, id };
}

/** Starts a run with calls; answers `ran`, or `asks` once it waits. */
async function tryCall(call: Call, caller: Caller = "ann", more: object = {}): Promise<string> {
  const content = script({ calls: [call] }, { text: ["done"] });
  const response = await postChat({ messages: [{ role: "user", content }], ...more }, caller);
  expect(response.status).toBe(200);
  return howItEnds(runIdOf(response), caller);
}

async function howItEnds(runId: string, caller: Caller): Promise<string> {
  const rests = async () => (await stateOf(runId, caller)).status !== "running";
  await expect.poll(rests).toBe(true);
  const { status } = await stateOf(runId, caller);
  if (status !== "waiting") return "ran";
  await cancel(runId, caller);
  return "asks";
}

async function auditOf(action: string): Promise<readonly Record<string, unknown>[]> {
  const answer = await send(`/v1/audit?action=${action}&limit=100`, { caller: "chief" });
  const { records } = await answer.json<{ records: readonly { entry: object }[] }>();
  return records.map(({ entry }) => entry as Record<string, unknown>);
}

describe("a consent that lasts", () => {
  test("answers nine calls like the approved one, is listed, and ends when it is revoked", async () => {
    const { approvalId, id } = await consent(archive("report"));
    for (let call = 0; call < 9; call++) expect(await tryCall(archive("report"))).toBe("ran");
    expect(moved).toHaveLength(10);
    expect(await tryCall(archive("report"))).toBe("asks");
    expect((await consentsOf("ann")).filter((one) => one.id === id)).toEqual([
      {
        id,
        state: "used_up",
        person: "user:ann",
        approvalId,
        href: `/v1/approvals/${approvalId}`,
        toolId: "lab__archive",
        toolVersion: "1.0.0",
        assistantId: "default",
        sameFields: ["/what"],
        calls: 9,
        used: 9,
        grantedAt: expect.any(String),
        until: expect.any(String),
      },
    ]);
    const second = await consent(archive("report"));
    expect(await tryCall(archive("report"))).toBe("ran");
    const revoked = await (await revoke(second.id, "ann")).json();
    expect(revoked).toMatchObject({ state: "revoked", used: 1 });
    expect(await (await revoke(second.id, "ann")).json()).toEqual(revoked);
    expect(await tryCall(archive("report"))).toBe("asks");
    const [given] = (await viewOf(approvalId, "ann")).votes;
    expect(given).toMatchObject({ consentId: id, lasting: { within: "assistant", calls: 9 } });
  });

  test("leaves a packet, a signed vote and records of each call that it answered", async () => {
    const { id } = await consent(archive("audited"));
    const response = await chat([{ calls: [archive("audited")] }, { text: ["done"] }], "ann");
    const runId = runIdOf(response);
    await ended(runId);
    const own = `appr_${runId.slice(4)}_1_1`;
    const { status, packet, votes } = await viewOf(own, "ann");
    expect([status, packet.arguments.shown]).toEqual(["approved", { what: "audited" }]);
    expect(votes).toEqual([
      { approverId: "user:ann", decision: "approve", consentId: id, at: expect.any(String) },
    ]);
    const about = { consentId: id, runId };
    await expect
      .poll(async () => [
        ...(await auditOf("approval.voted")).filter((entry) => entry["runId"] === runId),
        ...(await auditOf("approval.consumed")).filter((entry) => entry["runId"] === runId),
      ])
      .toEqual([
        expect.objectContaining({ ...about, actorId: "user:ann" }),
        expect.objectContaining({ ...about, approvalId: own }),
      ]);
    const granted = (await auditOf("consent.granted")).find((entry) => entry["consentId"] === id);
    expect(granted).toMatchObject({ actorId: "user:ann", toolId: "lab__archive" });
    expect(JSON.stringify(granted)).not.toContain("audited");
    await revoke(id, "chief");
    const ended_ = (await auditOf("consent.revoked")).find((one) => one["consentId"] === id);
    expect(ended_).toMatchObject({ actorId: "user:chief", subjectId: "user:ann" });
  });

  test("is bound to its conversation unless policy and person let it go further", async () => {
    const { runId } = await consent(archive("here"), HERE);
    expect(await tryCall(archive("here"))).toBe("asks");
    expect(await tryCall(archive("here"), "ann", { previousRunId: runId })).toBe("ran");
  });

  test("does not answer other arguments, or the same ones of another tool", async () => {
    await withRules([{ ...CONSENT, tools: ["lab__archive", "lab__publish"] }]);
    await consent(archive("plain"));
    expect(await tryCall(archive("plain", "1234"))).toBe("ran");
    for (const call of [archive("other"), callOf("lab__publish", { what: "plain" })]) {
      expect(await tryCall(call)).toBe("asks");
    }
  });

  test("for all arguments, if the person wants that", async () => {
    await consent(archive("exact"), {
      ...APPROVE,
      lasting: { within: "assistant", sameArguments: true },
    });
    expect(await tryCall(archive("exact"))).toBe("ran");
    expect(await tryCall(archive("exact", "1234"))).toBe("asks");
  });

  test("does not answer another version of its tool", async () => {
    const greet = (version: string) => ({
      allowedTools: [{ id: "lab__greet", versions: [version] }],
    });
    const rules = [
      { tools: ["lab__greet"], pattern: "user_consent", lasting: { ...OFFER, sameFields: [] } },
    ];
    await withRules(rules, greet("1.0.0"));
    await consent(callOf("lab__greet", {}));
    expect(await tryCall(callOf("lab__greet", {}))).toBe("ran");
    await withRules(rules, greet("2.0.0"));
    expect(await tryCall(callOf("lab__greet", {}))).toBe("asks");
  });

  test("does not answer another person, an agent of the person, or another assistant", async () => {
    await putAssistant("desk", { instructions: "Help." }, "chief");
    await consent(archive("mine"));
    expect(await tryCall(archive("mine"))).toBe("ran");
    expect(await tryCall(archive("mine"), "eve")).toBe("asks");
    expect(await tryCall(archive("mine"), "scribe")).toBe("asks");
    expect(await tryCall(archive("mine"), "ann", { assistantId: "desk" })).toBe("asks");
  });

  test("answers for its person only: where an operator has to approve too, the operator does", async () => {
    await consent(archive("both"));
    const operator = { tools: ["lab__archive"], pattern: "operator_review" };
    await withRules([CONSENT, operator]);
    const { runId, approvalId } = await askFor([archive("both")]);
    const { requirements } = await viewOf(approvalId, "bob");
    expect(requirements.map(({ pattern, approvals }) => [pattern, approvals])).toEqual([
      ["user_consent", 1],
      ["operator_review", 0],
    ]);
    await decide(approvalId, "bob", APPROVE);
    await ended(runId);
    expect(moved).toHaveLength(2);
  });

  test("stands in the export of its person, and of nobody else", async () => {
    const { id } = await consent(archive("exported"));
    const exported: ConsentView[] = [];
    for (const person of ["user:bob", "user:ann"]) {
      expect(exported).toEqual([]);
      for (let next: string | undefined = ""; next !== undefined;) {
        const cursor = next && `?cursor=${encodeURIComponent(next)}`;
        const page = await send(`/v1/people/${person}/export${cursor}`, { caller: "chief" });
        const body = await page.json<{ consents?: ConsentView[]; next?: string }>();
        exported.push(...(body.consents ?? []));
        ({ next } = body);
      }
    }
    const own = exported.find((one) => one.id === id);
    expect(own).toMatchObject({ person: "user:ann", toolId: "lab__archive", state: "active" });
  });

  test("does not answer what an approver wrote", async () => {
    const review = {
      tools: ["lab__archive"],
      pattern: "operator_review",
      approverIsNot: ["/what"],
    };
    // Whoever names themselves in the arguments has no vote on them.
    for (const [what, voters] of [
      ["edited", ["user:bob"]],
      ["bob", []],
    ] as const) {
      await withRules([CONSENT]);
      await consent(archive(what));
      await withRules([CONSENT, review]);
      const { runId, approvalId } = await askFor([archive("unlike")]);
      const edit = { ...APPROVE, arguments: { what } };
      expect((await decide(approvalId, "bob", edit)).status).toBe(200);
      const next = approvalId.replace(/_1$/, "_2");
      await expect.poll(async () => (await readApproval(next, "bob")).status).toBe(200);
      const { status, votes } = await viewOf(next, "bob");
      expect([status, votes.map(({ approverId }) => approverId)]).toEqual(["pending", voters]);
      await cancel(runId, "ann");
    }
  });

  test("does not answer a data-flow question, also under a rule that offers it", async () => {
    await consent(archive("asked"));
    const dataFlow = {
      arguments: [{ tool: "lab__archive", field: "/what", must: { beFromPerson: true } }],
    };
    await withRules([CONSENT], { dataFlow });
    const { runId, approvalId } = await askFor([archive("asked")]);
    const answer = await decide(approvalId, "ann", EVERYWHERE);
    expect(await answer.json()).toMatchObject({ reason: "lasting_not_offered" });
    await cancel(runId, "ann");
  });

  test("holds under the policy of now: one that takes the offer back, or shortens it, asks", async () => {
    await consent(archive("policy"));
    for (const lasting of [
      undefined,
      { ...OFFER, within: "conversation" },
      { ...OFFER, sameFields: ["/what", "/pin"] },
    ]) {
      await withRules([{ ...CONSENT, lasting }]);
      expect([lasting, await tryCall(archive("policy"))]).toEqual([lasting, "asks"]);
    }
    await withRules([CONSENT]);
    expect(await tryCall(archive("policy"))).toBe("ran");
    await withRules([{ ...CONSENT, lasting: { ...OFFER, maxCalls: 1 } }]);
    expect(await tryCall(archive("policy"))).toBe("asks");
  });
});

describe("one consent for one call", () => {
  test("is used once by calls that come at the same time", async () => {
    const { id } = await consent(archive("race"), {
      ...APPROVE,
      lasting: { within: "assistant", calls: 1 },
    });
    const tried = await Promise.all(Array.from({ length: 6 }, () => tryCall(archive("race"))));
    expect(tried.toSorted()).toEqual(["asks", "asks", "asks", "asks", "asks", "ran"]);
    expect(moved).toHaveLength(2);
    const own = (await consentsOf("ann")).find((one) => one.id === id);
    expect(own).toMatchObject({ calls: 1, used: 1 });
  });
});

describe("a tenant's object that dies", () => {
  const ALL_WRITES = [1, 2, 3, 4, 5, 6, 7, 8, 9].map(
    (at) => [at, (["before", "after", "durable"] as const)[at % 3] ?? "after"] as const,
  );
  const WRITES = sampleOfGroups(ALL_WRITES, ([, mode]) => mode, 3);

  /** Lets the object die at one of its next writes; tells whether it came to that write. */
  async function dying(at: number, mode: CrashPlan["mode"], act: () => Promise<unknown>) {
    forgetPlans();
    await abortAllDurableObjects();
    const objectId = bindings.TENANTS.idFromName("guild").toString();
    const planned = planIncarnation({ objectId, at, mode });
    await act();
    return planned.hasCrashed;
  }

  test("stores a consent at most once, and uses it once for each call that ran by it", async () => {
    let crashes = 0;
    for (const [at, mode] of WRITES) {
      const call = archive(`dies ${at}`);
      const { runId, approvalId } = await askFor([call]);
      const vote = { ...APPROVE, lasting: { within: "assistant", calls: 1 } };
      const granting = await dying(at, mode, async () => {
        const votes = () => decide(approvalId, "ann", vote).catch(() => undefined);
        await expect.poll(async () => (await votes())?.status).toBe(200);
        await ended(runId);
      });
      const before = moved.length;
      const using = await dying(at, mode, () => tryCall(call).catch(() => undefined));
      forgetPlans();
      await tryCall(call);
      const id = approvalId.replace("appr_", "cons_");
      const stored = (await consentsOf("ann")).find((one) => one.id === id);
      expect([at, mode, moved.length - before]).toEqual([at, mode, stored ? 1 : 0]);
      expect(stored?.used ?? 1).toBe(1);
      expect(await tryCall(call)).toBe("asks");
      crashes += Number(granting) + Number(using);
    }
    // Not every story comes to its write: a sample of late ones crashes twice.
    expect(crashes).toBeGreaterThan(1);
  }, 120_000);
});

describe("to let a consent last", () => {
  test.each([
    ["more calls than the rule offers", { lasting: { within: "assistant", calls: 10 } }],
    ["more time", { lasting: { until: "2999-01-01T00:00:00Z" } }],
    ["a time that has passed", { lasting: { until: "2020-01-01T00:00:00Z" } }],
  ])("refuses %s", async (_, more) => {
    const { runId, approvalId } = await askFor([archive("much")]);
    const answer = await decide(approvalId, "ann", { ...APPROVE, ...more });
    expect([answer.status, await answer.json()]).toMatchObject([
      403,
      { reason: "lasting_not_offered" },
    ]);
    await cancel(runId, "ann");
    expect(moved).toEqual([]);
  });

  test("is for the person who is asked: an operator who approves too cannot grant it", async () => {
    await withRules([CONSENT, { tools: ["lab__archive"], pattern: "operator_review" }]);
    const { runId, approvalId } = await askFor([archive("theirs")]);
    const seen = async (caller: Caller) =>
      (await (await readApproval(approvalId, caller)).json<{ lasting?: object }>()).lasting;
    expect([await seen("ann"), await seen("bob")]).toEqual([OFFER, undefined]);
    for (const caller of ["bob", "scribe", "eve"] as const) {
      expect((await decide(approvalId, caller, EVERYWHERE)).status).toBeGreaterThanOrEqual(403);
    }
    await decide(approvalId, "bob", APPROVE);
    await decide(approvalId, "ann", APPROVE);
    await ended(runId);
    expect(await tryCall(archive("theirs"))).toBe("asks");
  });

  test("is offered for no tool of high risk and no saga, whatever the policy says", async () => {
    const etag = (await send("/v1/policy", { caller: "chief" })).headers.get("etag") ?? "";
    const put = (approvals: readonly object[]) =>
      putPolicy({ ...GUILD_POLICY, approvals }, { caller: "chief", "if-match": etag });
    for (const rule of [
      { ...CONSENT, tools: ["lab__notify"] },
      { ...CONSENT, tools: ["lab__transfer"] },
      { pattern: "user_consent", classes: ["HIGH_RISK_EXTERNAL"], lasting: OFFER },
      { ...CONSENT, pattern: "operator_review" },
      { ...CONSENT, lasting: { ...OFFER, sameFields: ["/nothing"] } },
    ]) {
      expect([rule, (await put([rule])).status]).toEqual([rule, 422]);
    }
    const { sameFields: _, ...any } = OFFER;
    await withRules([{ pattern: "user_consent", lasting: any }], {
      allowedTools: [...GUILD_POLICY.allowedTools, ...SAGA],
    });
    for (const call of [
      callOf("lab__notify", { what: "risk" }),
      callOf("lab__confirmed_journey", { where: "Genf", pin: "1" }),
    ]) {
      const { runId, approvalId } = await askFor([call]);
      const answer = await decide(approvalId, "ann", HERE);
      expect(await answer.json()).toMatchObject({ reason: "lasting_not_offered" });
      await cancel(runId, "ann");
    }
  });

  test("stores nothing while the call has not begun, and nothing for a call that is refused", async () => {
    const operator = { tools: ["lab__archive"], pattern: "operator_review" };
    await withRules([CONSENT, operator]);
    const { runId, approvalId } = await askFor([archive("refused")]);
    expect((await decide(approvalId, "ann", EVERYWHERE)).status).toBe(200);
    const stored = async () => (await consentsOf("ann")).map((one) => one.approvalId);
    expect(await stored()).not.toContain(approvalId);
    await decide(approvalId, "bob", { decision: "reject" });
    await untilState(runId, { status: "completed" }, "ann");
    expect(await stored()).not.toContain(approvalId);
    expect(moved).toEqual([]);
  });
});

describe("the list of consents", () => {
  test("shows nobody else's, and only its person and operators end one", async () => {
    const { id } = await consent(archive("private"));
    expect(await consentsOf("eve")).toEqual([]);
    expect(await consentsOf("scribe")).toEqual([]);
    expect((await send("/v1/consents?person=user:ann", { caller: "eve" })).status).toBe(403);
    const [newest] = await consentsOf("chief", "?person=user:ann");
    expect(newest).toMatchObject({ id });
    for (const caller of ["eve", "scribe", "outsider"] as const) {
      const [foreign, unknown] = await Promise.all([
        revoke(id, caller),
        revoke(id.replace(/_1_1$/, "_2_1"), caller),
      ]);
      expect([foreign.status, await foreign.text()]).toEqual([404, await unknown.text()]);
    }
    expect(await tryCall(archive("private"))).toBe("ran");
  });
});
