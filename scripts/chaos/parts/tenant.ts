import { TOKENS } from "../host/deployment.ts";
import { withHost } from "../host/hosts.ts";
import { inLanes } from "../lanes.ts";
import { plainScript } from "../world/make-script.ts";
import type { Part, PartContext, PartResult } from "../part.ts";
import { CRASH_MODES, type ChaosScript } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { sleep } from "../sleep.ts";
import { Tally } from "../verify/tally.ts";
import type { Target } from "../client/target.ts";
import { planCrash, readCrashes } from "../host/shared-crashes.ts";
import type { CrashRecord } from "../worker/shared-crash.ts";

/** Percentage of the writes at which a short proof crashes. */
const SHORT_PERCENT = 10;
/** Longest wait for the notices that a run sends after its end. Unit: milliseconds. */
const NOTICES_WITHIN_MS = 2_500;
const POLL_MS = 100;

/**
 * Crashes the object of a tenant at every durable write that one run with approvals leads to. Each
 * mode has its own deployment.
 */
export const tenant: Part = {
  name: "tenant",
  claim: "the object of a tenant may end before, after or durably after any write",
  run: (context) => {
    const count = context.isShort ? 1 : CRASH_MODES.length;
    return inLanes(context, count, (lane, number) =>
      crashEverywhere(
        lane,
        CRASH_MODES.filter((_, index) => index % count === number),
      ),
    );
  },
};

async function crashEverywhere(
  context: PartContext,
  modes: readonly (typeof CRASH_MODES)[number][],
): Promise<PartResult> {
  const { seed, isShort, progress } = context;
  const tally = new Tally(context);
  return withHost(context, async (host) => {
    const target = { url: host.url, token: TOKENS.chaos };
    const carry = (id: string): Promise<unknown> =>
      tally.carry(target, scriptOf(id, seed), { name: id, mustSucceed: true });
    await planCrash(host.url, "tenant", null);
    await carry(`tenant-${seed}-${modes.join("-")}`);
    const { points } = await untilRecord(target, () => false);
    const random = seededRandom(seed, modes.join());
    for (const [index, label] of points.entries()) {
      for (const mode of modes) {
        if (tally.isFull || (isShort && !random.chance(SHORT_PERCENT))) continue;
        const { crashes } = await planCrash(host.url, "tenant", { point: index + 1, mode });
        await carry(`tenant-${seed}-${index + 1}-${mode}`);
        const record = await untilRecord(target, (now) => now.crashes > crashes);
        tally.count(record.crashes > crashes ? "tenant crashes" : "points not reached");
        progress.show(`tenant: ${mode} ${index + 1} of ${points.length} (${label})`);
      }
    }
    await planCrash(host.url, "tenant", null);
    return await tally.close(target);
  });
}

/** All runs of a seed have the same calls; the seed also chooses who decides about them. */
function scriptOf(id: string, seed: number): ChaosScript {
  const effectClass = seed % 2 === 0 ? "asked" : "approved";
  return plainScript(id, effectClass, seededRandom(seed, "tenant"));
}

/** Reads the record of the tenant once it fits, or once the last notices had time to arrive. */
async function untilRecord(
  { url }: Target,
  fits: (record: CrashRecord) => boolean,
): Promise<CrashRecord> {
  const deadlineMs = Date.now() + NOTICES_WITHIN_MS;
  for (;;) {
    const record = await readCrashes(url, "tenant");
    if (fits(record) || Date.now() > deadlineMs) return record;
    await sleep(POLL_MS);
  }
}
