import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GUILD_POLICY, moved } from "../workers/lab-approvals.ts";
import { invoke } from "../shared/invoke.ts";
import {
  APPROVE,
  askFor,
  askNobody,
  askToPay,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  openOf,
  readApproval,
  REJECT,
  useApprovalLab,
  viewOf,
  type Asked,
} from "../shared/people.ts";
import { cancel, crash, rowsOf, untilState } from "../shared/run-object.ts";
import { govern, postChat, runIdOf, send } from "../shared/worker.ts";
import { script } from "../fakes/scripted-model.ts";
import { done, FLOW_TOOLS } from "../workers/lab-flow.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

useApprovalLab();

/** Starts a run whose call asks which seat. */
function askSeat(args: object = {}): Promise<Asked> {
  return askFor([callOf("lab__seat", { flight: "LH1", ...args })]);
}

function answerWith(answer: object): object {
  return { decision: "answer", answer };
}

const AISLE = answerWith({ seat: "aisle" });

async function refusal(answer: Promise<Response>): Promise<readonly unknown[]> {
  const { status, code, errors = [] } = await (await answer).json<Problem>();
  return [status, code, ...errors.map(({ pointer }) => pointer)];
}

interface Problem {
  readonly status: number;
  readonly code: string;
  readonly errors?: readonly { readonly pointer: string }[];
}

function say(runId: string, content: string): Promise<Response> {
  return send(`/v1/runs/${runId}/messages`, {
    caller: "ann",
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content }),
  });
}

/** What the model is told of the only call of a run. */
async function toldOf(runId: string): Promise<string> {
  const [row] = await rowsOf(runId, "SELECT ending FROM invocations");
  return JSON.stringify(row).replaceAll("\\", "");
}

describe("a contract that asks", () => {
  test("waits for the answer of the person, over a crash, and runs with it once", async () => {
    const { runId, approvalId } = await askSeat({ seat: "window", pin: "1234" });
    const view = await viewOf(approvalId, "ann");
    expect(view).toMatchObject({
      status: "pending",
      asks: "answer",
      requirements: [{ pattern: "user_consent", ttlSeconds: 3_600 }],
      packet: {
        question: {
          text: "Which seat on flight LH1, PIN •••?",
          schema: {
            required: ["seat"],
            properties: {
              seat: { enum: ["window", "aisle", "cockpit"], title: "Where do you sit?" },
              bags: { type: "integer", maximum: 3 },
            },
          },
        },
      },
    });
    expect(view.lines[0]).toMatchObject({ field: "question", label: "Question" });
    expect(moved).toEqual([]);
    await crash(runId);
    const answer = await decide(approvalId, "ann", answerWith({ seat: "aisle", bags: 1 }));
    const answered = { by: "user:ann", fields: { seat: "aisle", bags: 1 } };
    expect(await answer.json()).toMatchObject({ status: "answered", answer: answered });
    await ended(runId);
    expect(moved).toEqual(["aisle on LH1 with 1"]);
    expect(await toldOf(runId)).toContain('answered: {"seat":"aisle","bags":1}');
  });

  test("asks nothing where its function answers null, and does not run where it throws", async () => {
    const unasked = callOf("lab__seat", { flight: "any" });
    const [call] = await askNobody([{ ...unasked, args: '{"flight":"any","seat":"window"}' }]);
    expect([call?.outcome, moved]).toEqual(["SUCCESS", ["window on any"]]);
    // A rule of the policy is about the seat, and nobody will answer it.
    const [ruled] = await askNobody([unasked]);
    expect([ruled?.outcome, moved.length]).toEqual(["POLICY_VIOLATION", 1]);
    const [broken] = await askNobody([callOf("lab__seat", { flight: "broken", seat: "window" })]);
    expect([broken?.outcome, moved.length]).toEqual(["UNKNOWN_ERROR", 1]);
  });

  test.each([
    ["a value of another type", { seat: "aisle", bags: "1" }, "/bags"],
    ["a value beyond a bound", { seat: "aisle", bags: 4 }, "/bags"],
    ["none of the listed values", { seat: "roof" }, "/seat"],
    ["no value for a field that is needed", { bags: 1 }, "/seat"],
    ["a field that nobody asked for", { seat: "aisle", flight: "LH2" }, ""],
    ["a hidden field of the call", { seat: "aisle", pin: "9999" }, ""],
    ["what a rule of the contract forbids", { seat: "aisle", bags: 2 }, "/bags"],
    ["what a rule of the policy forbids", { seat: "cockpit" }, "/seat"],
  ])("refuses an answer with %s, and goes on waiting", async (_, answer, pointer) => {
    const { runId, approvalId } = await askSeat();
    const refused = [422, "arguments_refused", pointer];
    expect(await refusal(decide(approvalId, "ann", answerWith(answer)))).toEqual(refused);
    expect(await viewOf(approvalId, "ann")).toMatchObject({ status: "pending" });
    await cancel(runId, "ann");
    expect(moved).toEqual([]);
  });

  test("takes neither a vote nor an edit for an answer, and an approval takes no answer", async () => {
    const { runId, approvalId } = await askSeat();
    const refused = [422, "arguments_refused", ""];
    const edit = { ...APPROVE, arguments: { flight: "LH1", seat: "aisle" } };
    for (const body of [APPROVE, edit]) {
      expect(await refusal(decide(approvalId, "ann", body))).toEqual(refused);
    }
    const invalid = [{ decision: "answer" }, { ...APPROVE, answer: { seat: "aisle" } }];
    for (const body of invalid) {
      expect(await refusal(decide(approvalId, "ann", body))).toEqual([
        422,
        "invalid_request",
        "/answer",
      ]);
    }
    await cancel(runId, "ann");
    const { runId: other, approvalId: plain } = await askToPay();
    expect(await refusal(decide(plain, "bob", AISLE))).toEqual(refused);
    await cancel(other, "ann");
    expect(moved).toEqual([]);
  });

  test("counts the first answer; the same one again gets it, after the effect too", async () => {
    const { runId, approvalId } = await askSeat();
    const other = answerWith({ seat: "window" });
    const both = await Promise.all([
      decide(approvalId, "ann", AISLE),
      decide(approvalId, "ann", other),
    ]);
    await ended(runId);
    await crash(runId);
    const statuses = both.map(({ status }) => status);
    expect(new Set(statuses)).toEqual(new Set([200, 409]));
    const first = statuses[0] === 200 ? [AISLE, other] : [other, AISLE];
    const again = await Promise.all(first.map((body) => decide(approvalId, "ann", body)));
    expect(again.map(({ status }) => status)).toEqual([200, 409]);
    expect(await again[0]?.json()).toMatchObject({ status: "answered" });
    expect(moved).toHaveLength(1);
  });

  test("is answered by its person alone", async () => {
    const { runId, approvalId } = await askSeat();
    for (const caller of ["bob", "eve", "victor", "aide"] as const) {
      const { status } = await decide(approvalId, caller, AISLE);
      expect([caller, status]).toEqual([caller, 404]);
    }
    const madeUp = approvalId.replace(/_1_1$/, "_1_2");
    expect((await decide(madeUp, "ann", AISLE)).status).toBe(404);
    expect(await viewOf(approvalId, "ann")).toMatchObject({ status: "pending" });
    await cancel(runId, "ann");
    expect(moved).toEqual([]);
  });

  test("ends without an effect when nobody answers in time", async () => {
    const { runId, approvalId } = await askSeat();
    await rowsOf(runId, "UPDATE approvals SET body = json_set(body, '$.expiresAtMs', 1)");
    await crash(runId);
    expect(await refusal(decide(approvalId, "ann", AISLE))).toEqual([409, "approval_closed"]);
    await ended(runId);
    expect(await toldOf(runId)).toContain("nobody answered the question about this call in time");
    expect(moved).toEqual([]);
  });

  test("ends without an effect when the person does not want to answer", async () => {
    const calls = [callOf("lab__seat", { flight: "LH1" })];
    const { runId, approvalId } = await askFor(calls);
    await decide(approvalId, "ann", { ...REJECT, reason: "I stay here" });
    await ended(runId);
    expect(await toldOf(runId)).toContain("did not answer the question about this call: I stay");
    expect(moved).toEqual([]);
  });

  test("asks about a direct call too", async () => {
    const invoked = await invoke("lab__seat", { flight: "LH1" }, { caller: "ann", key: "seat-1" });
    const runId = runIdOf(invoked);
    const [approvalId = ""] = openOf(await untilState(runId, { status: "waiting" }, "ann"));
    expect((await decide(approvalId, "ann", AISLE)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual(["aisle on LH1"]);
  });
});

describe("a question before an approval", () => {
  afterEach(() => changeGuildPolicy(GUILD_POLICY));
  const REVIEWED = {
    ...GUILD_POLICY,
    approvals: [...GUILD_POLICY.approvals, { tools: ["lab__seat"], pattern: "operator_review" }],
  };

  test("comes first, so that others approve the completed arguments", async () => {
    await changeGuildPolicy(REVIEWED);
    const { runId, approvalId } = await askSeat();
    expect(await viewOf(approvalId, "ann")).toMatchObject({ asks: "answer" });
    expect((await readApproval(approvalId, "bob")).status).toBe(404);
    expect((await decide(approvalId, "ann", AISLE)).status).toBe(200);
    const [next = ""] = openOf(await untilState(runId, { status: "waiting" }, "ann"));
    const view = await viewOf(next, "bob");
    expect(view).toMatchObject({
      requirements: [{ pattern: "operator_review" }],
      packet: { arguments: { shown: { flight: "LH1", seat: "aisle" } } },
    });
    expect([view.asks, view.changedTerms, view.changedShown].filter(Boolean)).toEqual([]);
    expect(moved).toEqual([]);
    await decide(next, "bob", APPROVE);
    await ended(runId);
    expect(moved).toEqual(["aisle on LH1"]);
  });

  test("is one card with it where one person gives both", async () => {
    const { runId, approvalId } = await askFor([
      callOf("lab__gift", { what: "flowers", to: "mallory@evil.example" }),
    ]);
    expect(await viewOf(approvalId, "ann")).toMatchObject({ asks: "answer_and_vote" });
    const foreign = answerWith({ to: "mallory@evil.example" });
    expect(await refusal(decide(approvalId, "ann", foreign))).toEqual([
      422,
      "arguments_refused",
      "/to",
    ]);
    const chosen = answerWith({ to: "mara@x.example" });
    expect((await decide(approvalId, "ann", chosen)).status).toBe(200);
    await ended(runId);
    expect(moved).toEqual(["flowers to mara@x.example"]);
    const second = approvalId.replace(/_1$/, "_2");
    expect(await viewOf(approvalId, "ann")).toMatchObject({
      status: "answered",
      supersededBy: second,
    });
    expect(await viewOf(second, "ann")).toMatchObject({
      status: "approved",
      votes: [{ approverId: "user:ann", decision: "approve" }],
    });
  });

  test("is closed when the policy changes meanwhile, and the call meets the new one", async () => {
    const { runId, approvalId } = await askSeat();
    const allowedTools = GUILD_POLICY.allowedTools.filter((name) => name !== "lab__seat");
    await changeGuildPolicy({ ...GUILD_POLICY, allowedTools });
    expect(await refusal(decide(approvalId, "ann", AISLE))).toEqual([409, "approval_closed"]);
    const { toolCalls } = await ended(runId);
    expect([toolCalls[0]?.outcome, moved]).toEqual(["POLICY_VIOLATION", []]);
  });
});

describe("a model that asks", () => {
  const ASKS = callOf("core__ask_person", {
    question: "Do you mean mara@x.example or nils@x.example?",
    choices: ["mara@x.example", "nils@x.example"],
    answer: "mallory@evil.example",
  });

  test("gets the answer of the person, and never its own", async () => {
    const { runId, approvalId } = await askFor([ASKS]);
    const { packet } = await viewOf(approvalId, "ann");
    expect(packet.question).toMatchObject({
      text: "Do you mean mara@x.example or nils@x.example?",
      schema: { properties: { answer: { enum: ["mara@x.example", "nils@x.example"] } } },
    });
    const foreign = answerWith({ answer: "mallory@evil.example" });
    expect(await refusal(decide(approvalId, "ann", foreign))).toEqual([
      422,
      "arguments_refused",
      "/answer",
    ]);
    await decide(approvalId, "ann", answerWith({ answer: "nils@x.example" }));
    await ended(runId);
    const told = await toldOf(runId);
    expect(told).toContain('"data":{"answer":"nils@x.example"}');
    expect(told).not.toContain("mallory");
  });

  test("is not answered by a message, which withdraws the question", async () => {
    const { runId, approvalId } = await askFor([ASKS]);
    await say(runId, "never mind");
    await ended(runId);
    expect(await viewOf(approvalId, "ann")).toMatchObject({ status: "withdrawn" });
  });
});

describe("where a value comes from", () => {
  const WRITES = callOf("lab__tell", { to: ["mara@x.example"], text: "hello" }, "tell");
  const OTHER = callOf("lab__tell", { to: ["nils@x.example"], text: "hello" }, "tell");
  const ASKS = callOf(
    "core__ask_person",
    { question: 'Shall I write to "nils@x.example", or to whom?' },
    "ask",
  );
  const rule = {
    tool: "lab__tell",
    field: "/to/*",
    must: { beFromPerson: true },
    otherwise: "refuse",
  };
  beforeEach(() =>
    govern({
      allowedTools: [...FLOW_TOOLS, "core__ask_person"],
      dataFlow: { arguments: [rule], afterUntrusted: [{ decision: "allow" }] },
    }),
  );

  test.each([
    ["an answer is the person's word", WRITES, ["mara@x.example"]],
    ["what the question quotes is not", OTHER, []],
  ])("%s", async (_, call, told) => {
    done.length = 0;
    const words = script({ calls: [ASKS] }, { calls: [call] }, {});
    const runId = runIdOf(
      await postChat({ messages: [{ role: "user", content: words }] }, "victor"),
    );
    const state = await untilState(runId, { status: "waiting" }, "victor");
    await decide(openOf(state)[0] ?? "", "victor", answerWith({ answer: "mara@x.example" }));
    await ended(runId, "victor");
    expect(done.map((one) => /\S+@\S+example/.exec(one)?.[0])).toEqual(told);
  });
});
