import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { GUILD_POLICY } from "../workers/lab-approvals.ts";
import { labContext } from "../workers/lab-context.ts";
import { got, scramble } from "../workers/lab-hostile.ts";
import { labHooks } from "../workers/lab-hooks.ts";
import {
  APPROVE,
  askFor,
  askNobody,
  callOf,
  changeGuildPolicy,
  decide,
  ended,
  useApprovalLab,
  viewOf,
} from "../shared/people.ts";
import { chat, chunksOf, runIdOf, send } from "../shared/worker.ts";

useApprovalLab();

beforeEach(() => {
  got.length = 0;
  labHooks.length = 0;
});

afterAll(() => changeGuildPolicy(GUILD_POLICY));

const ARGS = { account: { holder: "bakery" }, amounts: [40, 2] };
const settle = callOf("lab__settle", ARGS);

async function allowSettle(): Promise<void> {
  await changeGuildPolicy({ ...GUILD_POLICY, allowedTools: ["lab__settle"], approvals: [] });
}

/** Reads the observations of a run, as its stream shows them. */
async function resultsOf(runId: string): Promise<unknown> {
  const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller: "ann" }));
  return chunks.filter(({ type }) => type === "result").map(({ result }) => result);
}

/** A hook's answer that vetoes nothing. */
function answerAfter(_done: unknown): undefined {}

interface Pried {
  readonly status: { readonly taxonomy_class: string };
  readonly result_payload: { readonly data: { readonly found: readonly string[] } };
}

/** The functions that get capabilities. */
const ACTING = /execute|checkState|preview|reconcile|^verify|\/verify/;

const SETTLED = [
  {
    status: { taxonomy_class: "SUCCESS" },
    result_payload: { data: { settled: { holder: "bakery" } } },
    verification: { expected_state: { holder: "closed" } },
  },
];

describe("functions of authors that change what they get", () => {
  test("change nothing for the next function, for approvers, or for the context of the tool", async () => {
    await allowSettle();
    const { runId, approvalId } = await askFor([settle]);
    const { packet } = await viewOf(approvalId, "ann");
    expect(packet.arguments.shown).toEqual(ARGS);
    expect(packet.beforeState).toEqual({ holder: "open" });
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(await resultsOf(runId)).toMatchObject(SETTLED);
    const names = new Set(got.map(([name]) => name));
    expect([...names].toSorted()).toEqual(
      ["checkState", "clock", "describe", "execute", "expect", "preview", "rule"].toSorted(),
    );
    const clock = got.find(([name]) => name === "clock");
    expect(clock).toEqual(["clock", "true"]);
    for (const [name, args, context] of got.filter(([each]) => each !== "clock")) {
      expect([name, args]).toEqual([name, JSON.stringify(ARGS)]);
      if (!["checkState", "preview", "execute"].includes(name)) continue;
      expect(JSON.parse(context ?? "")).toMatchObject({ runId, actorId: "user:ann" });
    }
  });

  test("a tool finds nothing of another tool that acts or looks, and calls nothing past policy", async () => {
    await changeGuildPolicy({ ...GUILD_POLICY, allowedTools: ["lab__pry"], approvals: [] });
    const { account } = ARGS;
    const calls = [callOf("lab__pry", { account }), { ...settle, id: "call_2" }];
    const runId = runIdOf(await chat([{ calls }, { text: ["done"] }], "ann"));
    await ended(runId);
    const [pried, refused] = (await resultsOf(runId)) as readonly Pried[];
    const found = pried?.result_payload.data.found ?? [];
    expect(found).toContain("/describe");
    expect(found.filter((path) => ACTING.test(path))).toEqual([]);
    const called = new Set(got.map(([name]) => name));
    expect([...called].filter((name) => ACTING.test(name) || name === "clock")).toEqual([]);
    expect(called).toContain("describe");
    expect(refused?.status.taxonomy_class).toBe("POLICY_VIOLATION");
  });

  test("hooks change nothing for the next hook, for approvers, for the tool or for the model", async () => {
    await allowSettle();
    const seen: unknown[] = [];
    labHooks.push(
      {
        before: async (call) => answerAfter(scramble(call)),
        after: async (...given) => answerAfter(scramble(given)),
      },
      {
        before: async (call) => answerAfter(seen.push(structuredClone(call))),
        after: async (...given) => answerAfter(seen.push(structuredClone(given))),
      },
    );
    const { runId, approvalId } = await askFor([settle]);
    expect((await viewOf(approvalId, "ann")).packet.arguments.shown).toEqual(ARGS);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(await resultsOf(runId)).toMatchObject(SETTLED);
    const call = { toolId: "lab__settle", shownArgs: ARGS, context: { actorId: "user:ann" } };
    expect(seen).toMatchObject([call, call, [call, SETTLED[0], []]]);
    const executed = got.find(([name]) => name === "execute");
    expect(executed?.[2]).toContain('"actorId":"user:ann"');
  });

  test("a hook that insists on changing what it got has vetoed the call", async () => {
    await allowSettle();
    labHooks.push({
      before: async ({ shownArgs }) => answerAfter(Object.assign(shownArgs, { amounts: [] })),
    });
    expect(await askNobody([settle])).toMatchObject([{ outcome: "POLICY_VIOLATION" }]);
    expect(got.some(([name]) => name === "execute")).toBe(false);
  });

  test("the context hook changes neither the caller for whom the run acts, nor the caller's rights", async () => {
    await allowSettle();
    let principal: object | undefined;
    labContext.answers.set("default", async (_signal, request) => {
      scramble(request);
      for (const list of [request.principal.roles, request.principal.scopes]) {
        expect(() => (list as string[]).push("operator")).toThrow(TypeError);
      }
      principal = request.principal;
      return {};
    });
    const { runId, approvalId } = await askFor([settle]);
    expect((await decide(approvalId, "ann", APPROVE)).status).toBe(200);
    await ended(runId);
    expect(principal).toMatchObject({ tenantId: "guild", actorId: "user:ann" });
    expect(got.find(([name]) => name === "execute")?.[2]).toContain('"actorId":"user:ann"');
    labContext.answers.clear();
  });
});
