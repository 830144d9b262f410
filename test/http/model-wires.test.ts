import { beforeAll, describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { chunksOf, postChat, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";

beforeAll(seedPolicies);

const TITLE = { name: "core__generate_title", args: '{"title":"Ok"}' };
const SUM = { name: "core__calculate", args: '{"expression":"6*7"}' };

interface Told {
  readonly runId: string;
  readonly text: string;
  readonly reason: string | undefined;
  readonly code: string | undefined;
  readonly classes: readonly string[];
  /** Everything that the client got. */
  readonly wire: string;
}

interface Asked {
  readonly model: string;
  readonly previousRunId?: string;
  readonly parentId?: string;
}

async function say(content: string, body: Asked): Promise<Told> {
  const response = await postChat({ messages: [{ role: "user", content }], ...body });
  const chunks = await chunksOf(response);
  const done = chunks
    .flatMap(({ type, data }) => (type === "data" ? (data as readonly Done[]) : []))
    .find(({ type }) => type === "done");
  const results = chunks.flatMap(({ type, result }) => (type === "result" ? [result] : []));
  return {
    runId: runIdOf(response),
    text: chunks.map(({ textDelta }) => (typeof textDelta === "string" ? textDelta : "")).join(""),
    reason: done?.reason,
    code: done?.error?.code,
    classes: results.map((result) => (result as Observation).status.taxonomy_class),
    wire: JSON.stringify(chunks),
  };
}

interface Done {
  readonly type: string;
  readonly reason?: string;
  readonly error?: { readonly code: string };
}

interface Observation {
  readonly status: { readonly taxonomy_class: string };
}

const run = (steps: readonly ScriptedStep[], body: Asked) => say(script(...steps), body);

/** Asks a model what it is sent when the conversation goes on. */
async function requestOf(model: string, parentId: string): Promise<string> {
  return (await say("what do you see?", { model, parentId })).text;
}

describe.each(["scripted", "scripted-r", "scripted-a"])("the model %s", (model) => {
  test("calls tools, several at once, and reads their results", async () => {
    const steps = [{ text: ["Two ", "calls."], calls: [TITLE, SUM] }, { text: ["Done."] }];
    const { text, reason, classes, runId } = await run(steps, { model });
    expect(text).toMatch(/^Two calls\..*Done\.$/);
    expect([reason, classes]).toEqual(["stop", ["SUCCESS", "SUCCESS"]]);
    expect((await stateOf(runId)).usage).toEqual({ inputTokens: 20, outputTokens: 4 });
    expect(await requestOf(model, runId)).toContain("42");
  });

  test("reads when a tool is to be used and when not, and examples of its arguments", async () => {
    const { runId } = await run([{ text: ["Hi."] }], { model });
    const read =
      "units.\nUse for: Any calculation with numbers that are known." +
      "\nNot for: Equations with unknowns, units, dates." +
      '\nExample: A share of a sum. {"expression":"(480 * 12.5) / 100"}' +
      '\nExample: Powers and roots. {"expression":"sqrt(2) ^ 3"}';
    expect(await requestOf(model, runId)).toContain(JSON.stringify(read).slice(1, -1));
  });

  test("does not run what a cut or broken answer asked for", async () => {
    const finish = {
      scripted: "length",
      "scripted-r": "max_output_tokens",
      "scripted-a": "max_tokens",
    }[model];
    const cut = await run([{ calls: [TITLE], finish: finish ?? "" }], { model });
    expect([cut.reason, cut.classes]).toEqual(["length", []]);
    const garbled = await run([{ calls: [TITLE], garbled: true }], { model });
    expect([garbled.reason, garbled.code, garbled.classes]).toEqual([
      "error",
      "upstream_malformed",
      [],
    ]);
  });

  test("fails when a tool call has no name", async () => {
    const { code, classes } = await run([{ calls: [TITLE, { name: "", args: "{}" }] }], { model });
    expect([code, classes]).toEqual(["upstream_malformed", []]);
  });

  test("gets a refusal for arguments that are JSON inside a JSON string", async () => {
    const args = JSON.stringify(SUM.args);
    const { classes } = await run([{ calls: [{ ...SUM, args }] }, { text: ["Oh."] }], { model });
    expect(classes).toEqual(["SYNTACTIC_PARSE_FAIL"]);
  });
});

test("one conversation goes through all three wires, with tools on each", async () => {
  const steps = (text: string) => [{ calls: [SUM] }, { text: [text] }];
  const first = await run(steps("one"), { model: "scripted" });
  const second = await run(steps("two"), { model: "scripted-r", previousRunId: first.runId });
  const third = await run(steps("three"), { model: "scripted-a", previousRunId: second.runId });
  expect([first, second, third].map(({ classes }) => classes)).toEqual(
    Array.from({ length: 3 }, () => ["SUCCESS"]),
  );
  for (const model of ["scripted", "scripted-r", "scripted-a"]) {
    const seen = await requestOf(model, third.runId);
    for (const word of ["one", "two", "three"]) expect(seen).toContain(word);
  }
});

describe.each([
  ["scripted-r", "other-r"],
  ["scripted-a", "scripted-r"],
])("reasoning of %s", (model, another) => {
  const steps = [
    { reasoning: "sealed-1", text: ["Hm."], calls: [TITLE, SUM] },
    { reasoning: "sealed-2", text: ["Done."] },
  ];

  test("goes back verbatim while the model stays, and not to another model", async () => {
    const { runId, classes } = await run(steps, { model });
    expect(classes).toEqual(["SUCCESS", "SUCCESS"]);
    const seen = await requestOf(model, runId);
    expect([seen.includes("SEALED-1"), seen.includes("SEALED-2")]).toEqual([true, true]);
    const elsewhere = await requestOf(another, runId);
    expect(elsewhere).not.toContain("SEALED");
    expect(elsewhere).toContain("Done.");
  });

  test("reaches no client, no state, no trace and no list", async () => {
    const { runId, wire } = await run(steps, { model });
    const routes = [`/v1/runs/${runId}`, `/v1/runs/${runId}/events`, "/v1/runs", "/v1/audit"];
    const seen = await Promise.all(routes.map(async (route) => (await send(route)).text()));
    for (const text of [wire, ...seen]) expect(text).not.toContain("SEALED");
  });

  test("of a withdrawn half step is dropped", async () => {
    const once = `half-${model}`;
    const half = { reasoning: "sealed-half", text: ["Wel"], breaks: true };
    const whole = { reasoning: "sealed-whole", text: ["Well."] };
    const { runId } = await run([{ ...half, once, later: whole }], { model });
    const seen = await requestOf(model, runId);
    expect([seen.includes("SEALED-HALF"), seen.includes("SEALED-WHOLE")]).toEqual([false, true]);
  });
});

describe("Anthropic's Messages", () => {
  const model = "scripted-a";

  test("get all results of an answer in one user message, with nothing before them", async () => {
    const { runId } = await run([{ calls: [TITLE, SUM] }, { text: ["Done."] }], { model });
    const { messages } = JSON.parse(await requestOf(model, runId)) as {
      messages: { role: string; content: { type: string }[] }[];
    };
    const said = messages.map(({ role, content }) => [role, content.map(({ type }) => type)]);
    expect(said).toEqual([
      ["user", ["text"]],
      ["assistant", ["tool_use", "tool_use"]],
      ["user", ["tool_result", "tool_result"]],
      ["assistant", ["text"]],
      ["user", ["text"]],
    ]);
  });

  test.each([
    ["refusal", "refusal"],
    ["model_context_window_exceeded", "context_window"],
  ])("%s ends the run as %s", async (finish, reason) => {
    const ended = await run([{ text: ["I"], finish }], { model });
    expect([ended.text, ended.reason]).toEqual(["I", reason]);
  });

  test("pause_turn is continued with the same content", async () => {
    const steps = [{ reasoning: "sealed", finish: "pause_turn" }, { text: ["Done."] }];
    const { reason, text } = await run(steps, { model });
    expect([reason, text]).toEqual(["stop", "Done."]);
  });

  test("an answer that pauses for ever ends at the step limit", async () => {
    const steps = Array.from({ length: 60 }, () => ({ text: ["."], finish: "pause_turn" }));
    expect((await run(steps, { model })).reason).toBe("step_limit");
  });
});

test("a filter's cut of a Responses answer ends the run as content_filter", async () => {
  const { reason } = await run([{ text: ["I"], finish: "content_filter" }], {
    model: "scripted-r",
  });
  expect(reason).toBe("content_filter");
});
