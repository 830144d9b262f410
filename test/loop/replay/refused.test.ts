import { describe, expect, test } from "vitest";
import type { AiEvent } from "../../../src/protocol/run/event.ts";
import { fail } from "../../../src/protocol/outcome/result.ts";
import { happen, replay, type Happening } from "../../../src/testing/fakes/evidence.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";
import { AS_READ, noteTool } from "../../shared/tools.ts";

const down = fail({
  taxonomyClass: "DEPENDENCY_UNAVAILABLE",
  errors: [{ field: null, code: "down", message: "it is down" }],
});
const stale = fail({
  taxonomyClass: "STALE_STATE",
  errors: [{ field: null, code: "moved", message: "it has moved" }],
});
const note = (change: object = {}) => noteTool(change).tool;
const noting = (text: string) => ["test__note", { text }] as const;

describe("not replayable, with a reason, is a run", () => {
  const answers = [{ calls: [noting("a")] }, {}];
  const reasonOf = async (
    run: Happening,
    contracts: readonly unknown[] = run.contracts,
  ): Promise<unknown> => replay(await happen(run), contracts);
  const refused = (reason: string) => ({ failure: { code: "not_replayable", reason } });

  test("that has not ended", async () => {
    const evidence = await happen({ contracts: [], answers: [{}] });
    const log = evidence.log.slice(0, -1);
    expect(await replay({ ...evidence, log }, [])).toMatchObject(refused("unfinished"));
  });

  test.each([
    ["cancelled", "cancelled"],
    ["out of time", "time"],
    ["given up", "interrupted"],
  ])("that was stopped: %s", async (_, why) => {
    const signal = AbortSignal.abort(why);
    expect(await reasonOf({ contracts: [note()], answers, signal })).toMatchObject(
      refused("stopped"),
    );
  });

  test("whose pinned policy cannot be read", async () => {
    const evidence = await happen({ contracts: [], answers: [{}] });
    const policy = { ...evidence.policy, deniedBecause: "unreadable" } as const;
    expect(await replay({ ...evidence, policy }, [])).toMatchObject(refused("policy_unavailable"));
  });

  test("that broke inside", async () => {
    const ports = {
      model: {
        stream() {
          throw new Error("a bug");
        },
      },
    };
    expect(await reasonOf({ contracts: [], answers, ports })).toMatchObject(refused("broken"));
  });

  test("in which an operator was asked", async () => {
    const evidence = await happen({ contracts: [note({ execute: () => down })], answers });
    expect(evidence.log.at(-1)?.type).toBe("tool_call_waiting");
    const log: readonly AiEvent[] = [
      ...evidence.log,
      { type: "done", reason: "stop", usage: { inputTokens: 0, outputTokens: 0 } },
    ];
    const invocations = evidence.invocations.map((record) => ({
      ...record,
      resolution: { outcome: "committed" as const, atMs: 0 },
      end: {} as never,
    }));
    expect(await replay({ ...evidence, log, invocations }, [note()])).toMatchObject(
      refused("operator"),
    );
  });

  const veto = { code: "house_rule", message: "not in this house" };
  test.each([
    ["before a call", note(), { before: () => Promise.resolve(veto) }],
    ["after one that went well", note(), { after: () => Promise.resolve(veto) }],
    [
      "after one that failed",
      note({ ...AS_READ, execute: () => stale, errors: { moved: "STALE_STATE" } }),
      { after: () => Promise.resolve(veto) },
    ],
  ])("that a hook had its say in, %s", async (_, tool, hook) => {
    const ports = { hooks: [hook] };
    expect(await reasonOf({ contracts: [tool], answers, ports })).toMatchObject(refused("vetoed"));
  });

  test("in which people did more than vote", async () => {
    const evidence = await happen({ contracts: [note()], answers });
    const asked = { generation: 1, status: "answered", votes: [], pin: evidence.policy.pin };
    const refusal = await replay({ ...evidence, approvals: [asked as never] }, [note()]);
    expect(refusal).toMatchObject(refused("people"));
  });

  test("that a later policy has refused a call of", async () => {
    const pin = { revision: 2, hash: "sha256:2" };
    const policy = policyOf({ allowedTools: ["test__note"] });
    const ports: Happening["ports"] = {
      ledger: {
        reserve: () => Promise.resolve({ kind: "policy_changed", pin }),
        peek: () => Promise.resolve({ kind: "reserved" }),
        settle: () => Promise.resolve(),
        release: () => Promise.resolve(),
      },
      policies: {
        load: () => Promise.resolve({ policy, pin: { revision: 1, hash: "sha256:1" } }),
        learn: () => {},
        read: () => Promise.resolve({ policy: policyOf({ allowedTools: [] }), pin }),
      },
    };
    expect(await reasonOf({ contracts: [note()], answers, ports })).toMatchObject(
      refused("policy_changed"),
    );
  });

  test("in which a check of a contract broke", async () => {
    const tool = note({
      checkState: () => {
        throw new Error("a bug");
      },
    });
    expect(await reasonOf({ contracts: [tool], answers })).toMatchObject(refused("unclear"));
  });
});
