import { ask, figure, TENANTS, type Tenant } from "../growth-tenants.ts";
import type { Contender } from "../contenders/start.ts";
import type { Figure } from "../measure.ts";
import { median } from "../statistics.ts";
import { modelOf, SCENARIOS } from "../upstream/scenario.ts";

const KIB = 1024;
/** Runs that one request fills in. */
const FILLED_AT_ONCE = 500;

interface Use {
  readonly bytes: number;
  readonly rowsRead: number;
}

async function useOf({ port }: Contender, path: string): Promise<Use> {
  return (await fetch(`http://127.0.0.1:${port}/tenant/${path}`)).json<Use>();
}

const REQUESTS = {
  "the newest 50 runs": "/v1/runs?limit=50",
  "the first 50 audit records": "/v1/audit?limit=50",
} as const;

/** Compares a tenant that received many runs with one that received as many as a page holds. */
export async function measureTenants(worker: Contender, count: number): Promise<readonly Figure[]> {
  const before = await useOf(worker, "full/0/50");
  await useOf(worker, "fresh/0/50");
  for (let from = 50; from < count; from += FILLED_AT_ONCE) {
    await useOf(worker, `full/${from}/${Math.min(from + FILLED_AT_ONCE, count)}`);
  }
  const { bytes } = await useOf(worker, "full");
  const figures = [
    figure("a run in its tenant's object", {
      unit: "KiB",
      value: (bytes - before.bytes) / KIB / (count - 50),
    }),
  ];
  for (const [name, path] of Object.entries(REQUESTS)) {
    const [fresh, full] = await compareTenants(worker, (tenant) => ask(worker, tenant, { path }));
    figures.push(...compared(`${name} after ${count} runs`, fresh, full));
  }
  const more = { model: modelOf(SCENARIOS.chain), messages: [{ role: "user", content: "go" }] };
  const chat = (tenant: Tenant): Promise<Response> =>
    ask(worker, tenant, { path: "/v1/chat", body: more });
  const [fresh, full] = await compareTenants(worker, chat);
  return [...figures, ...compared(`a run of 20 calls after ${count} runs`, fresh, full)];
}

interface Cost {
  readonly ms: number;
  readonly rows: number;
}

/** Sends a request to both tenants in turn; answers the medians. */
async function compareTenants(
  worker: Contender,
  send: (tenant: Tenant) => Promise<Response>,
): Promise<readonly [Cost, Cost]> {
  const costs: Record<Tenant, { ms: number[]; rows: number[] }> = {
    fresh: { ms: [], rows: [] },
    full: { ms: [], rows: [] },
  };
  for (let round = 0; round < 21; round++) {
    for (const tenant of TENANTS) {
      await useOf(worker, tenant);
      const startMs = performance.now();
      await (await send(tenant)).text();
      costs[tenant].ms.push(performance.now() - startMs);
      costs[tenant].rows.push((await useOf(worker, tenant)).rowsRead);
    }
  }
  const [fresh, full] = TENANTS.map((tenant) => ({
    ms: median(costs[tenant].ms),
    rows: median(costs[tenant].rows),
  }));
  if (!fresh || !full) throw new Error("a tenant is missing");
  return [fresh, full];
}

function compared(name: string, fresh: Cost, full: Cost): readonly Figure[] {
  const to = (ratio: number): readonly [string, number] => ["a fresh tenant", ratio];
  return [
    figure(`${name}: rows read`, {
      unit: "rows",
      value: full.rows,
      to: to(full.rows / fresh.rows),
    }),
    figure(`${name}: time`, { unit: "ms", value: full.ms, to: to(full.ms / fresh.ms) }),
  ];
}
