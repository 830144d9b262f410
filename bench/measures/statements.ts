import { setTimeout as wait } from "node:timers/promises";
import { bundleContender } from "../contenders/bundle.ts";
import { chat } from "../client.ts";
import { startContender } from "../contenders/start.ts";
import type { Bench, Figure } from "../measure.ts";
import { RUN_KINDS } from "../run-kinds.ts";

/** A run sends its notices within a second. */
const DELIVERED_AFTER_MS = 1_500;

/** What the objects of one run counted. */
interface Counts {
  readonly run: number;
  readonly tenant: number;
  readonly alarms: number;
}

/** Counts the calls of `sql.exec` of one run. They do not depend on the machine. */
export async function measureStatements({ plans }: Bench): Promise<readonly Figure[]> {
  const worker = await startContender({
    ...plans.interlock,
    code: await bundleContender("counting-worker.ts"),
  });
  const count = async (): Promise<Counts> =>
    (await fetch(`http://127.0.0.1:${worker.port}/counts`)).json<Counts>();
  const figures: Figure[] = [];
  for (const { name, scenario, deltas } of RUN_KINDS) {
    // The first run creates the tables of the tenant.
    await chat(worker, scenario, deltas);
    await wait(DELIVERED_AFTER_MS);
    await count();
    await chat(worker, scenario, deltas);
    await wait(DELIVERED_AFTER_MS);
    const { run, tenant, alarms } = await count();
    figures.push(
      { name: `${name}: sql.exec of the run`, unit: "", raw: { interlock: run } },
      { name: `${name}: sql.exec of its tenant`, unit: "", raw: { interlock: tenant } },
      { name: `${name}: alarms set`, unit: "", raw: { interlock: alarms } },
    );
  }
  await worker.stop();
  return figures;
}
