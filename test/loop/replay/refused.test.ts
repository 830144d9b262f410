import { describe, expect, test } from "vitest";
import { happen, replay, type Happening } from "../../../src/testing/fakes/evidence.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";
import { noteTool } from "../../shared/tools.ts";

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

  test("whose pinned policy cannot be read", async () => {
    const evidence = await happen({ contracts: [], answers: [{}] });
    const policy = { ...evidence.policy, deniedBecause: "unreadable" } as const;
    expect(await replay({ ...evidence, policy }, [])).toMatchObject(refused("policy_unavailable"));
  });

  test("that broke in its first step", async () => {
    const ports = {
      model: {
        stream() {
          throw new Error("a bug");
        },
      },
    };
    expect(await reasonOf({ contracts: [], answers, ports })).toMatchObject(refused("broken"));
  });

  test("of none that broke later: it is decided again up to its last whole step", async () => {
    const broken = () => {
      throw new Error("a bug");
    };
    const run = {
      contracts: [note()],
      answers: [
        { calls: [noting("a")] },
        { calls: [noting("b")] },
        { meanwhile: broken, calls: [noting("c")] },
      ],
    };
    const evidence = await happen(run);
    expect(evidence.log.at(-1)).toMatchObject({ error: { code: "internal_error" } });
    const replayed = await replay(evidence, run.contracts);
    expect(replayed).toMatchObject({ ok: true, value: { until: { step: 2, because: "broken" } } });
    expect(replayed.ok && replayed.value.difference).toBeUndefined();
    const stricter = {
      ...evidence,
      policy: { ...evidence.policy, policy: policyOf({ allowedTools: [] }) },
    };
    expect(await replay(stricter, run.contracts)).toMatchObject({
      value: { until: { step: 2 }, difference: { step: 1, toolCallId: expect.any(String) } },
    });
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
