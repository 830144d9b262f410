import { measureStart, type StartableWorker } from "../scripts/start-up.ts";
import { chat } from "./client.ts";
import { bundleContenderText } from "./contenders/bundle.ts";
import { planContenders } from "./contenders/plan.ts";
import { startUpstream, stopAll } from "./contenders/start.ts";
import { toStartable } from "./measures/cold-start.ts";
import { median } from "./statistics.ts";
import { SCENARIOS } from "./upstream/scenario.ts";

const ROUNDS = 15;
const ANSWER = "export default { fetch: () => new Response() };";
/** Each part has all that the part before it has. The bundler runs a required module when asked. */
const TEXTS = {
  "an empty Worker": ANSWER,
  "its script is parsed": 'globalThis.load = () => require("./interlock-worker.ts");' + ANSWER,
  "the top level of its modules runs":
    'import * as worker from "./interlock-worker.ts"; globalThis.worker = worker;' + ANSWER,
};

/** Prints the processor time that each part of a start adds, up to the first text. */
async function main(): Promise<void> {
  try {
    const upstream = await startUpstream();
    const plans = await planContenders(`http://127.0.0.1:${upstream.port}/v1`);
    const { compatibilityDate, code } = plans.interlock;
    const bare = { compatibilityDate, texts: {}, objects: {}, kv: [], services: [] };
    const parts = new Map<string, () => Promise<number>>();
    for (const [name, text] of Object.entries(TEXTS)) {
      const worker: StartableWorker = { ...bare, code: await bundleContenderText(text) };
      parts.set(name, async () => (await measureStart(worker)).cpuMs);
    }
    const worker = toStartable(plans.interlock);
    const { firstByte } = SCENARIOS;
    const ask = async (port: number): Promise<void> =>
      void (await chat({ port }, firstByte, firstByte.deltas));
    parts.set("bindings, and the first answer", async () => (await measureStart(worker)).cpuMs);
    parts.set(
      "instead, a first run to its end",
      async () => (await measureStart(worker, ask)).cpuMs,
    );
    console.log(`the script has ${Math.round(code.length / 1_024)} KiB`);
    console.table(await measureParts(parts));
  } finally {
    await stopAll();
  }
}

/** Measures the parts in turn. Unit: ms. */
async function measureParts(
  parts: ReadonlyMap<string, () => Promise<number>>,
): Promise<Readonly<Record<string, { readonly cpuMs: string }>>> {
  const samples = new Map(Array.from(parts.keys(), (name) => [name, [] as number[]]));
  for (let round = 0; round < 1 + ROUNDS; round++) {
    for (const [name, measure] of parts) {
      const cpuMs = await measure();
      // The first round reads the program from the disk.
      if (round > 0) samples.get(name)?.push(cpuMs);
    }
  }
  const rows = Array.from(samples, ([name, values]) => [
    name,
    { cpuMs: median(values).toFixed(1) },
  ]);
  return Object.fromEntries(rows) as Record<string, { cpuMs: string }>;
}

await main();
