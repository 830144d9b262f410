import { beforeAll, describe, expect, test } from "vitest";
import type { ObservationObject } from "../../src/protocol/outcome/observation.ts";
import { refusalOf, rowsOf, untilState } from "../shared/run-object.ts";
import { auditOf } from "../shared/tenant-notices.ts";
import { chat, chunksOf, runIdOf, seedPolicies, send, type Caller } from "../shared/worker.ts";
import { labHooks } from "../workers/lab-hooks.ts";
import { SHELFMARK } from "../workers/lab-results.ts";

beforeAll(seedPolicies);

const copying = (args: object) => ({
  calls: [{ id: "copy", name: "lab__copy_out", args: JSON.stringify(args) }],
});
const reading = (args: object) => ({
  calls: [{ name: "core__read_result", args: JSON.stringify(args) }],
});

interface Finished {
  readonly runId: string;
  readonly results: readonly ObservationObject[];
}

/** Lets the model of a person make one call in each step. */
async function finish(steps: readonly object[], caller: Caller = "mira"): Promise<Finished> {
  const response = await chat([...steps, { text: ["done"] }], caller);
  const chunks = await chunksOf(response);
  const results = chunks.flatMap(({ type, result }) =>
    type === "result" ? [result as ObservationObject] : [],
  );
  return { runId: runIdOf(response), results };
}

function resultOf(runId: string, caller: Caller, invocation = "inv_1"): Promise<Response> {
  return send(`/v1/runs/${runId}/invocations/${invocation}/result`, { caller });
}

const LINES = Array.from({ length: 750 }, (_, at) => `Line ${at}   of a stranger`);

test("a cut result is read on by the model page by page, and opened whole by its person", async () => {
  const { runId, results } = await finish([
    copying({ lines: 750 }),
    reading({ call: "copy" }),
    ...[6_000, 12_000, 18_000].map((offset) => reading({ call: "copy", offset })),
  ]);
  const [cut, ...pages] = results.map(({ result_payload: payload }) => payload);
  expect(cut?.warnings.join()).toContain("the result was cut to 4096 bytes");
  const text = pages.map((page) => page.data?.["text"] as string).join("");
  expect(JSON.parse(text)).toEqual({ lines: LINES });
  expect(pages.map((page) => page.data?.["nextOffset"])).toEqual([6_000, 12_000, 18_000, null]);
  // What it reads on is a stranger's, whatever tool reads it.
  await untilState(runId, { status: "completed" }, "mira");
  const sources = async (): Promise<readonly string[]> => {
    const { items } = await auditOf("archive");
    const own = items.filter(({ entry }) => entry.runId === runId && entry.action === "call.ended");
    return own.map(({ entry }) => (entry.after ?? []).map((one) => JSON.stringify(one)).join());
  };
  await expect.poll(async () => (await sources()).length).toBe(5);
  expect((await sources())[2]).toContain("core__read_result");
  const opened = await resultOf(runId, "mira");
  expect(await opened.json()).toEqual({
    invocationId: "inv_1",
    kind: "whole",
    data: { lines: LINES },
  });
});

describe("what is kept of a call", () => {
  test("is sealed in storage, and belongs to who may see the run", async () => {
    const { runId } = await finish([copying({ lines: 750 })]);
    const [row] = await rowsOf(runId, "SELECT body FROM results");
    expect(row?.["body"]).toContain('"sealed"');
    expect(row?.["body"]).not.toContain("stranger");
    const unknown = await resultOf(`${runId.slice(0, -1)}x`, "noor");
    const refused = await unknown.text();
    for (const caller of ["noor", "acme", "rival"] as const) {
      const answer = await resultOf(runId, caller);
      expect([answer.status, await answer.text()]).toEqual([unknown.status, refused]);
    }
    expect((await resultOf(runId, "archive")).status).toBe(200);
    for (const invocation of ["inv_2", "inv_0", "nonsense"]) {
      const answer = await resultOf(runId, "mira", invocation);
      expect(await refusalOf(answer)).toEqual([404, "result_not_kept"]);
    }
  });

  test("is nothing when the result was shown whole", async () => {
    const { runId } = await finish([copying({ lines: 3 })]);
    expect(await refusalOf(await resultOf(runId, "mira"))).toEqual([404, "result_not_kept"]);
  });

  test("that broke its contract is for operators alone, and who reads it is recorded", async () => {
    const { runId, results } = await finish([
      copying({ lines: 1, isBroken: true }),
      reading({ call: "copy" }),
    ]);
    const classes = results.map(({ status }) => status.taxonomy_class);
    expect(classes).toEqual(["OBSERVATION_NORMALIZATION_FAIL", "SEMANTIC_INVALIDITY"]);
    expect(JSON.stringify(results)).not.toContain(SHELFMARK);
    const [row] = await rowsOf(runId, "SELECT body FROM results");
    expect(row?.["body"]).not.toContain(SHELFMARK);
    expect(await refusalOf(await resultOf(runId, "mira"))).toEqual([404, "result_not_kept"]);
    const opened = await resultOf(runId, "archive");
    const data = { lines: SHELFMARK, shelfmark: SHELFMARK };
    expect(await opened.json()).toEqual({ invocationId: "inv_1", kind: "raw", data });
    const reads = async () => {
      const { items } = await auditOf("archive");
      return items.flatMap(({ entry }) => {
        return entry.runId === runId && entry.action === "output.read" ? [entry.actorId] : [];
      });
    };
    await expect.poll(reads).toEqual(["user:archive"]);
  });

  test("is nothing when a hook withholds the result", async () => {
    labHooks.push({ after: () => Promise.resolve({ code: "secret", message: "not for you" }) });
    const { runId, results } = await finish([copying({ lines: 750 }), reading({ call: "copy" })]);
    expect(results.map(({ status }) => status.is_error)).toEqual([true, true]);
    expect(JSON.stringify(results)).not.toContain("stranger");
    for (const caller of ["mira", "archive"] as const) {
      expect(await refusalOf(await resultOf(runId, caller))).toEqual([404, "result_not_kept"]);
    }
    labHooks.length = 0;
  });

  test("of another run is unknown to the model", async () => {
    const other = await finish([copying({ lines: 750 })]);
    const { results } = await finish([reading({ call: "copy" }), reading({ call: other.runId })]);
    const codes = results.map(({ result_payload: payload }) => payload.errors[0]?.code);
    expect(codes).toEqual(["not_kept", "not_kept"]);
  });
});
