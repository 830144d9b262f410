import { SEGMENT_BYTES, TOKENS } from "../host/deployment.ts";
import { withHost } from "../host/hosts.ts";
import { planCrash, readCrashes } from "../host/shared-crashes.ts";
import { inLanes } from "../lanes.ts";
import type { Part, PartContext, PartResult } from "../part.ts";
import { seededRandom } from "../seeded-random.ts";
import { sleep } from "../sleep.ts";
import { readAuditLog } from "../verify/verify-tenant.ts";
import { Tally } from "../verify/tally.ts";
import type { AuditFill } from "../worker/fill-audit.ts";
import { CRASH_MODES, type CrashMode } from "../world/scenario.ts";

/** Percentage of the writes at which a short proof crashes. */
const SHORT_PERCENT = 4;
/** The alarm closes a segment after one second, and moves it after another. */
const CHANGED_WITHIN_MS = 3_500;
const POLL_MS = 100;
/** Longest wait for a tenant's object that crashed. */
const PATIENCE_MS = 30_000;
/** A record of this many characters fills a segment. */
const FILLING_CHARS = SEGMENT_BYTES * 3;
/** No run of this tenant is verified, so its log may name runs that never were. */
const TENANT = "other";
/** Runs that tell records at the same time: one fills the log, one adds to it. */
const FILLERS = [
  { runId: "run_filling", chars: FILLING_CHARS },
  { runId: "run_beside", chars: 0 },
] as const;

/**
 * Crashes the objects of a tenant at every durable write at which its audit log closes a segment
 * and moves it to an archive, while records come. Each mode has its own deployment.
 */
export const changeOver: Part = {
  name: "change-over",
  claim: "the objects of an audit log may end at any write of a change-over: no record is lost",
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
  modes: readonly CrashMode[],
): Promise<PartResult> {
  const { seed, isShort, progress } = context;
  const tally = new Tally(context);
  return withHost(context, async ({ url }) => {
    const target = { url, token: TOKENS[TENANT] };
    let seq = 0;
    const changeOverOnce = async (): Promise<void> => {
      seq++;
      tally.count("change-overs");
      await Promise.all(FILLERS.map((filler) => fill(url, { ...filler, seq })));
      await sleep(CHANGED_WITHIN_MS);
    };
    await changeOverOnce();
    await planCrash(url, "tenant", null);
    await changeOverOnce();
    const { points } = await readCrashes(url, "tenant");
    const random = seededRandom(seed, modes.join());
    for (const [index, label] of points.entries()) {
      for (const mode of modes) {
        if (isShort && !random.chance(SHORT_PERCENT)) continue;
        const { crashes } = await planCrash(url, "tenant", { point: index + 1, mode });
        await changeOverOnce();
        const now = await readCrashes(url, "tenant");
        tally.count(now.crashes > crashes ? "tenant crashes" : "points not reached");
        progress.show(`change-over: ${mode} ${index + 1} of ${points.length} (${label})`);
      }
    }
    await planCrash(url, "tenant", null);
    await changeOverOnce();
    const { entries, problems } = await readAuditLog(target);
    tally.fail("audit log", problems);
    for (const { runId } of FILLERS) {
      const told = entries.filter((entry) => entry.runId === runId).map(({ reason }) => reason);
      const due = Array.from({ length: seq }, (_, index) => `filled ${index + 1}`);
      const isSame = told.join() === due.join();
      tally.fail(runId, isSame ? [] : [`told ${due.length} records, the log has ${told.join()}`]);
    }
    return await tally.close({ url, token: TOKENS.chaos });
  });
}

/** Tells a record until it is stored, as the outbox of a run does. */
async function fill(url: string, record: AuditFill): Promise<void> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  const asked = { method: "POST", body: JSON.stringify(record) };
  for (;;) {
    const answer = await fetch(`${url}/chaos/fill?tenant=${TENANT}`, asked);
    await answer.arrayBuffer();
    if (answer.ok) return;
    if (Date.now() > deadlineMs) throw new Error(`${record.runId} cannot tell its record`);
    await sleep(POLL_MS);
  }
}
