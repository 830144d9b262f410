import type { Contender } from "../contenders/start.ts";
import { HEADERS, startWithTools } from "../contenders/start-with-tools.ts";
import { takeTurns, type Bench, type Figure } from "../measure.ts";
import { median } from "../statistics.ts";
import { modelOf, SCENARIOS, type Scenario } from "../upstream/scenario.ts";

const WARM_UP_ROUNDS = 3;
const KINDS = ["reads", "writes", "writesUnsynced", "interrupted"] as const;

/**
 * Measures the cost of durability. A chain of writes is compared with a chain of reads, and with
 * writes that do not wait for their records. A run whose object crashes half way is compared with
 * an undisturbed run, as their readers see both.
 */
export async function measureDurability({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const synced = await startWithTools(plans.interlock);
  const unsynced = await startWithTools(plans.interlock, { SYNC: "off" });
  const visits: Readonly<Record<(typeof KINDS)[number], () => Promise<void>>> = {
    reads: () => follow(synced, SCENARIOS.chain),
    writes: () => follow(synced, SCENARIOS.writes),
    writesUnsynced: () => follow(unsynced, SCENARIOS.writes),
    interrupted: () => follow(synced, SCENARIOS.chain, SCENARIOS.chain.steps / 2),
  };
  const timesMs: Readonly<Record<(typeof KINDS)[number], number[]>> = {
    reads: [],
    writes: [],
    writesUnsynced: [],
    interrupted: [],
  };
  await takeTurns(KINDS, WARM_UP_ROUNDS + (quick ? 5 : 25), async (kind, round) => {
    const startMs = performance.now();
    await visits[kind]();
    if (round >= WARM_UP_ROUNDS) timesMs[kind].push(performance.now() - startMs);
  });
  await Promise.all([synced.stop(), unsynced.stop()]);
  const [reads, writes, writesUnsynced, interrupted] = KINDS.map((kind) => median(timesMs[kind]));
  return toFigures({ reads, writes, writesUnsynced, interrupted });
}

function toFigures(ms: Readonly<Record<(typeof KINDS)[number], number | undefined>>): Figure[] {
  const { reads = 0, writes = 0, writesUnsynced = 0, interrupted = 0 } = ms;
  const { steps } = SCENARIOS.writes;
  const figure = (name: string, interlock: number, other: readonly [string, number]): Figure => ({
    name: `durability: ${name}`,
    unit: "ms",
    raw: { interlock },
    ratio: { to: other[0], value: interlock / other[1] },
  });
  return [
    figure(`chain of ${steps} writes`, writes, ["the same of reads", reads]),
    figure("the same chain of writes", writes, ["one that waits for no record", writesUnsynced]),
    figure("a run whose object dies half way", interrupted, ["one that lives", reads]),
  ];
}

/** Follows a run to its end. Crashes its object once, after `dieAfter` steps. */
async function follow({ port }: Contender, scenario: Scenario, dieAfter?: number): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const messages = [{ role: "user", content: "What time is it?" }];
  const body = JSON.stringify({ model: modelOf(scenario), messages });
  const started = await fetch(`${url}/v1/chat`, { method: "POST", headers: HEADERS, body });
  const runId = started.headers.get("x-run-id") ?? "";
  let seen = await read(started, dieAfter);
  if (dieAfter !== undefined) await fetch(`${url}/crash/${runId}`);
  while (!seen.text.includes("data: [DONE]")) {
    const headers = { ...HEADERS, "last-event-id": seen.lastId };
    const rest = await fetch(`${url}/v1/runs/${runId}/events`, { headers });
    if (rest.status !== 200) throw new Error(`events: ${rest.status}`);
    seen = await read(rest);
  }
  if (!seen.text.includes('"reason":"stop"')) throw new Error(seen.text.slice(-500));
}

/** Reads to the end, or until `steps` steps are finished. */
async function read(
  { body }: Response,
  steps = Number.POSITIVE_INFINITY,
): Promise<{ readonly text: string; readonly lastId: string }> {
  let text = "";
  const utf8 = new TextDecoder();
  try {
    for await (const chunk of body ?? []) {
      text += utf8.decode(chunk, { stream: true });
      if (text.split('"type":"step-finish"').length > steps) break;
    }
  } catch {
    // The object crashed. The text before the crash counts.
  }
  const whole = text.slice(0, text.lastIndexOf("\n\n"));
  const lastId = [...whole.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? "0-0";
  return { text, lastId };
}
