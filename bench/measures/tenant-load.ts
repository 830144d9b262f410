import { bundleContender } from "../contenders/bundle.ts";
import { startContender, type Contender } from "../contenders/start.ts";
import { callerOf, govern } from "../growth-tenants.ts";
import type { Bench, Figure } from "../measure.ts";
import { cpuMs } from "../process-usage.ts";
import { median } from "../statistics.ts";

/** Requests of one kind in one round. */
const ROUND = 500;
/** What a tenant's object is asked, and what it is for. */
const KINDS = {
  notices: "the notices of a run, in one batch",
  reservations: "reservations of a budget",
  places: "places for approval requests",
  lists: "reads of the newest 50 runs",
  audit: "reads of 50 audit records",
} as const;
type Kind = keyof typeof KINDS;

/** Requests a second, and the processor time of one. */
interface Load {
  readonly perSecond: number;
  readonly ms: number;
}

/**
 * Measures what the object of one tenant bears, 16 requests at once from one Worker, beside nothing
 * else. The kinds take turns, so that all of them meet the same object as it grows.
 */
export async function measureTenantLoad({ plans, quick }: Bench): Promise<readonly Figure[]> {
  const code = await bundleContender("growth-worker.ts");
  const { texts, ...plan } = plans.interlock;
  const API_TOKENS = JSON.stringify([callerOf("full")]);
  const worker = await startContender({ ...plan, code, texts: { ...texts, API_TOKENS } });
  await govern(worker, "full");
  const kinds = Object.keys(KINDS) as readonly Kind[];
  const loads = new Map<Kind, Load[]>(kinds.map((kind) => [kind, []]));
  // The first round warms up.
  for (let round = 0; round <= (quick ? 3 : 9); round++) {
    for (const kind of kinds) {
      const measured = await measure(worker, kind, round);
      if (round > 0) loads.get(kind)?.push(measured);
    }
  }
  await worker.stop();
  const perSecond = (kind: Kind): number =>
    median((loads.get(kind) ?? []).map((load) => load.perSecond));
  return kinds.flatMap((kind) => [
    {
      name: `tenant: ${KINDS[kind]} a second`,
      unit: "",
      raw: { interlock: perSecond(kind) },
      ratio: { to: "notices", value: perSecond(kind) / perSecond("notices") },
    },
    {
      name: `tenant: ${KINDS[kind]}: processor time of one`,
      unit: "ms",
      raw: { interlock: median((loads.get(kind) ?? []).map(({ ms }) => ms)) },
    },
  ]);
}

async function measure({ port, workerdPid }: Contender, kind: Kind, round: number): Promise<Load> {
  const startMs = performance.now();
  const startCpuMs = cpuMs(workerdPid);
  const range = `${round * ROUND}/${(round + 1) * ROUND}`;
  const answer = await fetch(`http://127.0.0.1:${port}/tenant/full/${range}/${kind}`);
  if (!answer.ok) throw new Error(await answer.text());
  await answer.text();
  const seconds = (performance.now() - startMs) / 1_000;
  return { perSecond: ROUND / seconds, ms: (cpuMs(workerdPid) - startCpuMs) / ROUND };
}
