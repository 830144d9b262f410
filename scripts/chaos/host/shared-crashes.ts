import type { Crash } from "../world/scenario.ts";
import { anyCrash } from "../world/make-script.ts";
import type { SeededRandom } from "../seeded-random.ts";
import { sleep } from "../sleep.ts";
import type { CrashRecord } from "../worker/shared-crash.ts";

/** The objects of a deployment that a shared crash may meet. */
export const CRASHING_OBJECTS = ["tenant", "runs", "workspaces"] as const;
type CrashingObjects = (typeof CRASHING_OBJECTS)[number];

/** Plans a crash of one of these objects, counted from their next write. Null: no crash. */
export async function planCrash(
  url: string,
  objects: CrashingObjects,
  crash: Crash | null,
): Promise<CrashRecord> {
  const body = JSON.stringify(crash);
  return (await fetch(`${url}/chaos/${objects}`, { method: "PUT", body })).json();
}

export async function readCrashes(url: string, objects: CrashingObjects): Promise<CrashRecord> {
  return (await fetch(`${url}/chaos/${objects}`)).json();
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
    await planCrash(url, "tenant", anyCrash(random, MAX_POINT));
    await sleep(random.below(MAX_PAUSE_MS));
  }
  return (await planCrash(url, "tenant", null)).crashes;
}
