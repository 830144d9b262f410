import { beforeAll, describe, expect, test } from "vitest";
import { script, type ScriptedStep } from "../fakes/scripted-model.ts";
import { chunksOf, postChat, runIdOf, seedPolicies, send } from "../shared/worker.ts";

beforeAll(seedPolicies);

const SUM = { name: "core__calculate", args: '{"expression":"6*7"}' };
const STEPS: readonly ScriptedStep[] = [
  { summary: ["I count ", "sheep \ud83d", "\udc11."], text: ["Hm."], calls: [SUM] },
  { text: ["Done."] },
];

interface Part {
  readonly type: string;
  readonly text: string;
  readonly isFinished: boolean;
  readonly isWithdrawn: boolean;
}

/** Reads the parts that a client shows, in their order. */
async function partsOf(response: Response): Promise<readonly Part[]> {
  const parts: { -readonly [Key in keyof Part]: Part[Key] }[] = [];
  for (const { path, type, part, textDelta, data } of await chunksOf(response)) {
    const [index = -1] = path as readonly number[];
    const known = parts[index];
    const { type: kind = "" } = (part ?? {}) as { readonly type?: string };
    if (type === "part-start") {
      parts[index] = { type: kind, text: "", isFinished: false, isWithdrawn: false };
    } else if (type === "text-delta" && known) known.text += String(textDelta);
    else if (type === "part-finish" && known) known.isFinished = true;
    else if (type === "data") {
      const [item] = data as readonly { readonly type: string; readonly parts?: number[] }[];
      for (const at of (item?.type === "withdrawn" && item.parts) || []) {
        const withdrawn = parts[at];
        if (withdrawn) withdrawn.isWithdrawn = true;
      }
    }
  }
  return parts;
}

const say = (content: string, model: string, more: object = {}): Promise<Response> =>
  postChat({ messages: [{ role: "user", content }], model, ...more });

/** Reads what a model is sent when the conversation goes on. */
async function requestOf(model: string, parentId: string): Promise<string> {
  const parts = await partsOf(await say("what do you see?", model, { parentId }));
  return parts.find(({ type }) => type === "text")?.text ?? "";
}

describe.each([
  ["summed-r", "scripted-r", '"summary":"auto"'],
  ["summed-a", "scripted-a", '"display":"summarized"'],
])("reasoning summaries of %s", (model, silent, asks) => {
  test("are a part of their own, before the text and never in it", async () => {
    const parts = await partsOf(await say(script(...STEPS), model));
    expect(parts.slice(0, 2)).toEqual([
      { type: "reasoning", text: "I COUNT SHEEP 🐑.", isFinished: true, isWithdrawn: false },
      { type: "text", text: "Hm.", isFinished: true, isWithdrawn: false },
    ]);
    expect(parts.map(({ type }) => type)).toEqual(["reasoning", "text", "tool-call", "text"]);
  });

  test("are off by default: nobody asks for them, and nobody sees them", async () => {
    const response = await say(script(...STEPS), silent);
    const runId = runIdOf(response);
    const parts = await partsOf(response);
    expect(parts.map(({ type }) => type)).toEqual(["text", "tool-call", "text"]);
    expect(JSON.stringify(parts)).not.toContain("SHEEP");
    expect(await requestOf(silent, runId)).not.toContain(asks);
  });

  test("are asked for, and go back only inside what the provider must see again", async () => {
    const response = await say(script(...STEPS), model);
    await response.text();
    const seen = await requestOf(model, runIdOf(response));
    expect(seen).toContain(asks);
    expect(seen.split("SHEEP")).toHaveLength(2);
    expect(await requestOf(silent, runIdOf(response))).not.toContain("SHEEP");
  });

  test("of a withdrawn half step are withdrawn with it", async () => {
    const half = { summary: ["wrong"], text: ["Wel"], breaks: true };
    const whole = { summary: ["right"], text: ["Well."] };
    const response = await say(script({ ...half, once: `half-${model}`, later: whole }), model);
    const shown = (await partsOf(response)).filter(({ isWithdrawn }) => !isWithdrawn);
    expect(shown.map(({ text }) => text)).toEqual(["RIGHT", "Well."]);
  });

  test("stay out of the state, the lists and the audit log", async () => {
    const response = await say(script(...STEPS), model);
    await response.text();
    for (const route of [`/v1/runs/${runIdOf(response)}`, "/v1/runs", "/v1/audit"]) {
      expect(await (await send(route)).text()).not.toContain("SHEEP");
    }
  });
});
