import { readFileSync } from "node:fs";
import { setTimeout as wait } from "node:timers/promises";
import { chat, openChat, type OpenChat } from "./client.ts";
import { planContenders, type ContenderPlan } from "./contenders/plan.ts";
import { startContender, startUpstream, stopAll, type Contender } from "./contenders/start.ts";
import { connectInspector } from "./inspector.ts";
import { SCENARIOS } from "./upstream/scenario.ts";

const WARM_UP_STREAMS = 40;
const STREAMS = [64, 256];
const SETTLE_MS = 1_500;
const KIB = 1_024;

/** Memory of a process by its parts. Unit: KiB. */
type Parts = Readonly<Record<string, number>>;

/** How the parts are read. */
interface Reading {
  /** Whether the process opens its inspector. */
  readonly inspect: boolean;
  readonly read: (contender: Contender) => Parts | Promise<Parts>;
}

/** Prints what an idle stream adds to each part of the memory of its process. */
async function main(): Promise<void> {
  try {
    const upstream = await startUpstream();
    const plans = await planContenders(`http://127.0.0.1:${upstream.port}/v1`);
    for (const name of ["interlock", "passThrough"] as const) {
      for (const streams of STREAMS) {
        const mapped = await grow(plans[name], streams, { inspect: false, read: readMappings });
        // An open inspector takes memory, so the heap is read in another process.
        const heap = await grow(plans[name], streams, { inspect: true, read: readHeap });
        console.log(`${name}, KiB for each of ${streams} streams`);
        console.table({ ...mapped, ...heap });
      }
    }
  } finally {
    await stopAll();
  }
}

/** Opens idle streams in a process of their own; answers what one of them adds to each part. */
async function grow(
  plan: ContenderPlan,
  streams: number,
  { inspect, read }: Reading,
): Promise<Parts> {
  const contender = await startContender(plan, inspect);
  const open: OpenChat[] = [];
  const openMany = async (count: number): Promise<void> => {
    for (let index = 0; index < count; index++) {
      open.push(await openChat(contender, SCENARIOS.silent));
    }
    await wait(SETTLE_MS);
  };
  for (let index = 0; index < WARM_UP_STREAMS; index++) {
    await chat(contender, SCENARIOS.firstByte, SCENARIOS.firstByte.deltas);
  }
  await openMany(WARM_UP_STREAMS);
  const before = await read(contender);
  await openMany(streams);
  const after = await read(contender);
  for (const { response } of open) response.on("error", () => undefined).destroy();
  await contender.stop();
  const grown = Object.entries(after).map(([part, kib]) => [
    part,
    Math.round(((kib - (before[part] ?? 0)) / streams) * 10) / 10,
  ]);
  return Object.fromEntries(grown) as Parts;
}

/** Sums the mappings of a process by what they hold. Each shared page counts by its share. */
function readMappings({ workerdPid }: Contender): Parts {
  const parts = { "index files of SQLite": 0, "anonymous memory": 0, "program and libraries": 0 };
  let part: keyof typeof parts = "anonymous memory";
  for (const line of readFileSync(`/proc/${workerdPid}/smaps`, "utf8").split("\n")) {
    const [, path] = /^[0-9a-f]+-[0-9a-f]+ \S+ \S+ \S+ \d+\s*(.*)$/.exec(line) ?? [];
    if (path?.includes("-shm")) part = "index files of SQLite";
    else if (path?.startsWith("/")) part = "program and libraries";
    else if (path !== undefined) part = "anonymous memory";
    parts[part] += Number(/^Pss:\s+(\d+) kB/.exec(line)?.[1] ?? 0);
  }
  return parts;
}

/** Reads the heap of JavaScript, which is a part of the anonymous memory. */
async function readHeap({ inspectorUrl }: Contender): Promise<Parts> {
  const inspector = await connectInspector(String(inspectorUrl));
  const heap = (await inspector.send("Runtime.getHeapUsage")) as {
    readonly totalSize: number;
    readonly usedSize: number;
  };
  inspector.close();
  return {
    "heap of JavaScript": heap.totalSize / KIB,
    "objects in it, with garbage": heap.usedSize / KIB,
  };
}

await main();
