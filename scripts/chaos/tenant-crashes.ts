import type { Crash } from "./scenario.ts";
import { anyCrash } from "./make-script.ts";
import type { SeededRandom } from "./seeded-random.ts";
import { sleep } from "./sleep.ts";
import type { TenantRecord } from "./worker/tenant-crash.ts";

/** Plans a crash of the tenant's object, counted from its next write. Null: no crash. */
export async function planTenantCrash(url: string, crash: Crash | null): Promise<TenantRecord> {
  const body = JSON.stringify(crash);
  return (await fetch(`${url}/chaos/tenant`, { method: "PUT", body })).json();
}

export async function readTenantRecord(url: string): Promise<TenantRecord> {
  return (await fetch(`${url}/chaos/tenant`)).json();
}

/** Writes within which a random crash is planned. */
const MAX_POINT = 40;
/** Longest time between two crashes. Unit: milliseconds. */
const MAX_PAUSE_MS = 1_000;

/**
 * Crashes the tenant's object at random writes until `isOver` answers true. Returns the number of
 * crashes.
 */
export async function crashTenantAtRandom(
  url: string,
  random: SeededRandom,
  isOver: () => boolean,
): Promise<number> {
  while (!isOver()) {
    await planTenantCrash(url, anyCrash(random, MAX_POINT));
    await sleep(random.below(MAX_PAUSE_MS));
  }
  return (await planTenantCrash(url, null)).crashes;
}
