import { beforeAll, describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { recordsOf } from "../shared/audit-pages.ts";
import { chunksOf, postChat, runIdOf, seedPolicies, stateOf } from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

beforeAll(seedPolicies);

const SUM = { name: "core__calculate", args: '{"expression":"6*7"}' };
const TITLE = { name: "core__generate_title", args: '{"title":"Ok"}' };

interface Told {
  readonly runId: string;
  /** The text that was not withdrawn. */
  readonly text: string;
  readonly end: string;
  /** Each change of the model, as `from to reason`. */
  readonly changes: readonly string[];
  /** Names of the tools that ran. */
  readonly ran: readonly string[];
}

async function run(...steps: readonly ScriptedStep[]): Promise<Told> {
  const body = { model: "brittle", messages: [{ role: "user", content: script(...steps) }] };
  const response = await postChat(body, "archive");
  const runId = runIdOf(response);
  const chunks = await chunksOf(response);
  const data = chunks.flatMap((chunk) => (chunk.type === "data" ? (chunk["data"] as Data[]) : []));
  const withdrawn = new Set(data.flatMap(({ parts }) => parts ?? []));
  const texts = new Set(
    chunks.flatMap(({ type, part, path }) =>
      type === "part-start" && (part as Data).type === "text" ? (path as number[]) : [],
    ),
  );
  const isShown = (part = -1): boolean => texts.has(part) && !withdrawn.has(part);
  const { reason, error } = await stateOf(runId, "archive");
  return {
    runId,
    text: chunks
      .filter(({ type, path }) => type === "text-delta" && isShown((path as number[])[0]))
      .map(({ textDelta }) => String(textDelta))
      .join(""),
    end: error?.code ?? reason ?? "",
    changes: data.flatMap(({ type, from, to, reason: why }) =>
      type === "model-changed" ? [`${from} ${to} ${why}`] : [],
    ),
    ran: chunks.flatMap(({ type, result }) =>
      type === "result" ? [(result as { tool_identity: { name: string } }).tool_identity.name] : [],
    ),
  };
}

interface Data {
  readonly type: string;
  readonly parts?: readonly number[];
  readonly from?: string;
  readonly to?: string;
  readonly reason?: string;
}

const spareSays = (text: string): NonNullable<ScriptedStep["as"]> => ({
  "spare-a": { text: [text] },
});

describe("a model that cannot answer", () => {
  test.each([
    [404, "retired"],
    [410, "retired"],
    [429, "overloaded"],
    [503, "overloaded"],
    [529, "overloaded"],
    [500, "failing"],
  ])("hands the step to its fallback when its provider answers %i", async (status, reason) => {
    const { text, end, changes, runId } = await run({ status, as: spareSays("Here.") });
    expect([text, end, changes]).toEqual(["Here.", "stop", [`brittle spare ${reason}`]]);
    const records = await recordsOf(runId);
    expect(records.filter(({ action }) => action === "model.changed")).toMatchObject([
      { decision: "from brittle to spare", reason, runId },
    ]);
  });

  test.each([400, 401, 403, 422])(
    "keeps a step that its provider refuses with %i",
    async (status) => {
      const { end, changes } = await run({ status, as: spareSays("Here.") });
      expect([end, changes]).toEqual(["upstream_status", []]);
    },
  );

  test("hands over an answer that breaks off, and its text is withdrawn", async () => {
    const half = { text: ["Half an"], breaks: true, as: spareSays("Whole.") };
    const { text, changes } = await run(half);
    expect([text, changes]).toEqual(["Whole.", ["brittle spare failing"]]);
  });

  test("runs no call of the answer that broke off; the fallback's call runs once", async () => {
    const broken: ScriptedStep = {
      calls: [SUM],
      breaks: true,
      as: { "spare-a": { calls: [TITLE] } },
    };
    const { ran, end } = await run(broken, { text: ["Done."] });
    expect([ran, end]).toEqual([["core__generate_title"], "stop"]);
  });

  test("is not asked again by its run", async () => {
    const calls = [SUM];
    const first: ScriptedStep = { status: 503, as: { "spare-a": { calls } } };
    const second: ScriptedStep = { text: ["brittle again"], as: spareSays("Still spare.") };
    expect(await run(first, second)).toMatchObject({ text: "Still spare.", ran: [SUM.name] });
  });

  test("passes the step down the list, over a model that takes no tools", async () => {
    const { text, changes } = await run({
      status: 404,
      as: { "spare-a": { status: 529 }, last: { text: ["Last."] }, toolless: { text: ["No."] } },
    });
    expect(text).toBe("Last.");
    expect(changes).toEqual(["brittle spare retired", "spare last overloaded"]);
  });

  test("ends the run when every model of the list fails", async () => {
    const { end, changes } = await run({ status: 404 });
    expect([end, changes.length]).toEqual(["upstream_status", 2]);
  });
});

test("a fallback to Anthropic in the middle of tool calls gets them without any thinking", async () => {
  const { text, ran, end } = await run(
    { reasoning: "sealed", text: ["Two. "], calls: [{ id: "call|1", ...SUM }, TITLE] },
    { status: 503, as: { "spare-a": { shows: true } } },
  );
  expect(ran.toSorted()).toEqual(["core__calculate", "core__generate_title"]);
  const body = JSON.parse(text.replace(/^Two\. /, "")) as AnthropicBody;
  expect(body.model).toBe("spare-a");
  expect(JSON.stringify(body)).not.toMatch(/SEALED|encrypted|"thinking"/);
  const [, answer, results] = body.messages;
  expect(answer?.content.map(({ type }) => type)).toEqual(["text", "tool_use", "tool_use"]);
  expect(results?.role).toBe("user");
  const ids = answer?.content.flatMap(({ id }) => id ?? []);
  expect(results?.content.map((block) => block.tool_use_id)).toEqual(ids);
  for (const id of ids ?? []) expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
  expect(end).toBe("stop");
});

interface AnthropicBody {
  readonly model: string;
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly { type: string; id?: string; tool_use_id?: string }[];
  }[];
}

test("a request cannot name a model that is only a fallback", async () => {
  const response = await postChat({ model: "spare", messages: [{ role: "user", content: "x" }] });
  expect(response.status).toBeGreaterThanOrEqual(400);
  expect(await response.json()).toMatchObject({ code: "model_not_allowed" });
});
