import { beforeAll, describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { chunksOf, postChat, seedPolicies } from "../shared/worker.ts";

beforeAll(seedPolicies);

/** Lets the scripted provider answer and tells how the run ended and which tools ran. */
async function run(step: ScriptedStep) {
  const chunks = await chunksOf(
    await postChat({ messages: [{ role: "user", content: script(step) }] }),
  );
  const done = chunks
    .flatMap(({ type, data }) =>
      type === "data" ? (data as readonly { type: string; reason?: string; error?: object }[]) : [],
    )
    .find(({ type }) => type === "done");
  return { done, results: chunks.flatMap(({ type, result }) => (type === "result" ? result : [])) };
}

const TITLE = { name: "core__generate_title", args: '{"title":"Ok"}' };

describe("a provider's quirk in a run", () => {
  test.each(["engine_timed_out", "SERVER_ERROR", "generation_failed", "unexpected_tool_call"])(
    "the finish word %s fails the model call, and its tool calls do not run",
    async (finish) => {
      const { done, results } = await run({ calls: [TITLE], finish });
      expect(done).toMatchObject({ reason: "error", error: { code: "upstream_error_event" } });
      expect(results).toEqual([]);
    },
  );

  test("a custom tool call fails the model call, and no other call of the answer runs", async () => {
    const custom = { index: 1, id: "c", type: "custom", custom: { name: "shell", input: "rm" } };
    const { done, results } = await run({ calls: [TITLE], deltas: [{ tool_calls: [custom] }] });
    expect(done).toMatchObject({ reason: "error", error: { code: "upstream_error_event" } });
    expect(JSON.stringify(done)).not.toContain("shell");
    expect(results).toEqual([]);
  });

  test("a tool name in pieces is joined, and the tool runs once", async () => {
    const pieces = ["core__gen", "erate_", "title"].map((name) => ({
      tool_calls: [{ index: 0, id: "c", type: "function", function: { name } }],
    }));
    const args = { tool_calls: [{ index: 0, function: { arguments: TITLE.args } }] };
    const { done, results } = await run({ deltas: [...pieces, args], finish: "tool_calls" });
    expect(done).toMatchObject({ reason: "stop" });
    expect(results).toMatchObject([{ status: { taxonomy_class: "SUCCESS" } }]);
  });
});
