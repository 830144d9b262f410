import { describe, expect, test } from "vitest";
import { happen, replay, type Happening } from "../../../src/testing/fakes/evidence.ts";
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

  test("in which a check of a contract broke", async () => {
    const tool = note({
      checkState: () => {
        throw new Error("a bug");
      },
    });
    expect(await reasonOf({ contracts: [tool], answers })).toMatchObject(refused("unclear"));
  });
});
