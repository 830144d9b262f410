import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { written } from "../workers/lab-writes.ts";
import { cancel, crash, untilState } from "../shared/run-object.ts";
import type { ScriptedStep } from "../fakes/scripted-model.ts";
import { chat, runIdOf, seedPolicies, send, stateOf } from "../shared/worker.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

beforeAll(seedPolicies);
beforeEach(() => {
  written.length = 0;
});

const call = (name: string, what: string, afterwards: string): ScriptedStep => ({
  calls: [{ id: "c", name, args: JSON.stringify({ what, afterwards }) }],
});

const HANGS: ScriptedStep = { text: ["half"], hangs: true };

/** Reads until the stream says something. */
async function untilSaid(word: string, { body }: Response): Promise<void> {
  const reader = body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let seen = ""; !seen.includes(word);) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) throw new Error(`ended before ${word}: ${seen}`);
    seen += value;
  }
  await reader?.cancel().catch(() => {});
}

/** A way in which a run stands when it is cancelled; answers once it stands so. */
interface Situation {
  readonly name: string;
  readonly steps: readonly ScriptedStep[];
  readonly reach: (runId: string, response: Response) => Promise<unknown>;
  /** States that its calls end in. */
  readonly states: readonly string[];
}

const hasWritten = (): Promise<unknown> => expect.poll(() => written.length).toBe(1);

const SITUATIONS: readonly Situation[] = [
  {
    name: "while the model streams",
    steps: [HANGS],
    reach: (_runId, response) => untilSaid("half", response),
    states: [],
  },
  {
    name: "while a tool reads",
    steps: [call("lab__watch", "cancelled-read", "hold")],
    reach: (runId) => untilState(runId, { toolCalls: [{ attempts: 1 }] }),
    states: ["FAILED_FINAL"],
  },
  {
    name: "while a tool writes",
    steps: [call("lab__pay", "cancelled-write", "hold")],
    reach: hasWritten,
    states: ["EXPIRED"],
  },
  {
    name: "while it waits for an operator",
    steps: [call("lab__pay", "cancelled-wait", "break")],
    reach: (runId) => untilState(runId, { status: "waiting" }),
    states: ["EXPIRED"],
  },
  {
    name: "while its provider is given time",
    steps: [{ text: ["half"], breaks: true }],
    reach: (_runId, response) => untilSaid("withdrawn", response),
    states: [],
  },
  {
    name: "while it backs off after two crashes",
    steps: [HANGS],
    reach: async (runId, response) => {
      await untilSaid("half", response);
      await crash(runId);
      await untilState(runId, { recoveries: 1 });
      await crash(runId);
      await untilState(runId, { status: "running", recoveries: 2 });
    },
    states: [],
  },
];

describe("cancelled twice at once, a run ends once, with every call ended", () => {
  test.each(SITUATIONS)("$name", async ({ name, steps, reach, states }) => {
    const response = await chat([...steps, { text: ["never said"] }], "lab");
    const runId = runIdOf(response);
    await reach(runId, response.clone());
    await response.body?.cancel().catch(() => {});
    const answers = await Promise.all([cancel(runId), cancel(runId)]);
    for (const answer of answers) {
      expect(answer.status, name).toBe(200);
      expect(await answer.json()).toMatchObject({ status: "cancelled", reason: "cancelled" });
    }
    const events = await (await send(`/v1/runs/${runId}/events`, { caller: "lab" })).text();
    expect(events.match(/"type":"done"/g)).toHaveLength(1);
    expect(events.match(/"type":"part-start"/g) ?? []).toHaveLength(
      (events.match(/"type":"part-finish"/g) ?? []).length,
    );
    expect(events).not.toContain("never said");
    const { toolCalls } = await stateOf(runId, "lab");
    expect(toolCalls.map(({ state }) => state)).toEqual(states);
    expect((await cancel(runId)).status).toBe(200);
  });
});
