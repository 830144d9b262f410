import { chat, openChat, type Target } from "../client.ts";
import { bundleContender } from "../contenders/bundle.ts";
import { TOKEN } from "../contenders/plan.ts";
import { startContender, type Contender } from "../contenders/start.ts";
import { takeTurns, type Bench, type Figure, type Ratio } from "../measure.ts";
import { cpuMs } from "../process-usage.ts";
import { median, quantile } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const WARM_UP_ROUNDS = 1;
/** First bytes and bursts of one sample, and runs that ten readers follow at once. */
const ASKED_PER_SAMPLE = 10;
const BURSTS_PER_SAMPLE = 5;
const RUNS_AT_ONCE = 4;
const READERS = 10;
const ONE_WIRE = ["assistant-transport"] as const;
const THREE_WIRES = [...ONE_WIRE, "ui-message", "ag-ui"] as const;
/** The aims: of a wire against the default one, and of three wires against one. */
const WIRE_AIM = 1.15;
const READERS_AIM = 1.5;

type Way = "other" | "base";
type Pairs = Readonly<Record<Way, number[]>>;
const newPairs = (): Pairs => ({ other: [], base: [] });

/** Measures what a wire costs beside the default one, and readers on three wires beside one. */
export async function measureWires({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const { texts, ...plan } = plans.interlock;
  const apiTokens = texts["API_TOKENS"]?.replace('["chat"]', '["chat","runs:read"]') ?? "";
  const worker = await startContender({
    ...plan,
    texts: { ...texts, API_TOKENS: apiTokens },
    code: await bundleContender("wires-worker.ts"),
  });
  const [firstByteMs, burstMs, readersMs] = [newPairs(), newPairs(), newPairs()];
  await takeTurns(
    ["other", "base"] as const,
    WARM_UP_ROUNDS + (quick ? 2 : 25),
    async (way, round) => {
      const target = (): Target => (way === "other" ? uiMessageOf(worker) : worker);
      const firsts: number[] = [];
      for (let index = 0; index < ASKED_PER_SAMPLE; index++) {
        const { firstByte } = SCENARIOS;
        firsts.push((await chat(target(), firstByte, firstByte.deltas)).firstByteMs);
      }
      const bursts: number[] = [];
      for (let index = 0; index < BURSTS_PER_SAMPLE; index++) {
        const { burst } = SCENARIOS;
        bursts.push((await chat(target(), burst, burst.deltas)).fullMs);
      }
      const read = await cpuOfReaders(worker, way === "other" ? THREE_WIRES : ONE_WIRE);
      if (round < WARM_UP_ROUNDS) return;
      firstByteMs[way].push(median(firsts));
      burstMs[way].push(median(bursts));
      readersMs[way].push(read);
    },
  );
  await worker.stop();
  return [
    figure("ui-message: time to the first byte", firstByteMs, ["assistant-transport", WIRE_AIM]),
    figure("ui-message: full time of 2,000 deltas", burstMs, ["assistant-transport", WIRE_AIM]),
    figure("ten readers on three wires: CPU", readersMs, ["ten on one wire", READERS_AIM]),
  ];
}

/** A chat of the AI SDK; each has a name of its own. */
function uiMessageOf({ port }: Contender): Target {
  const parts = [{ type: "text", text: "What time is it?" }];
  const messages = [{ id: "m", role: "user", parts }];
  const named = { id: crypto.randomUUID(), trigger: "submit-message", messages };
  return { port, path: "/api/chat", named };
}

/** Measures the processor time of runs that ten readers each follow from their start. */
async function cpuOfReaders(worker: Contender, wires: readonly string[]): Promise<number> {
  const beforeMs = cpuMs(worker.workerdPid);
  const runs = Array.from({ length: RUNS_AT_ONCE }, async () => {
    const { response } = await openChat(worker, SCENARIOS.paced);
    const runId = String(response.headers["x-run-id"]);
    response.resume();
    const readers = Array.from({ length: READERS }, (_, index) =>
      readEvents(worker, runId, wires[index % wires.length] ?? ""),
    );
    await Promise.all(readers);
  });
  await Promise.all(runs);
  return cpuMs(worker.workerdPid) - beforeMs;
}

async function readEvents({ port }: Contender, runId: string, wire: string): Promise<void> {
  const url = `http://127.0.0.1:${port}/v1/runs/${runId}/events?wire=${wire}`;
  const response = await fetch(url, { headers: { authorization: `Bearer ${TOKEN}` } });
  const { byteLength } = await response.arrayBuffer();
  if (!response.ok || byteLength === 0) throw new Error(`${wire} answered ${response.status}`);
}

function figure(
  name: string,
  { other, base }: Pairs,
  [to, atMost]: readonly [string, number],
): Figure {
  const ratios = other.map((value, round) => value / (base[round] ?? NaN));
  const range = [quantile(ratios, 0.1), quantile(ratios, 0.9)] as const;
  const ratio: Ratio = { to, value: median(ratios), range, atMost };
  return { name, unit: "ms", raw: { interlock: median(other) }, ratio };
}
