import { TOKENS } from "../host/deployment.ts";
import { withHost } from "../host/hosts.ts";
import { INSTANTS, killAfter, killAtEffect } from "../host/kill-at-effect.ts";
import { inLanes } from "../lanes.ts";
import { leftOver } from "../verify/left-over.ts";
import type { Failure, Part, PartContext, PartResult } from "../part.ts";
import { CRASH_MODES, UNDO_TOOLS, type Crash } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { planCrash, readCrashes } from "../host/shared-crashes.ts";
import { sleep } from "../sleep.ts";
import type { Target } from "../client/target.ts";
import { Undoer } from "../people/undoer.ts";

/** Percentage of the writes at which a short proof crashes. */
const SHORT_PERCENT = 8;
/** Time in which an undo that has ended finishes its last writes. Unit: milliseconds. */
const LAST_WRITES_MS = 500;
/** Kills at any time, in each lane. */
const KILLS = 6;
/** Latest such kill after both clicks. Unit: milliseconds. */
const LATEST_KILL_MS = 120;

/**
 * Crashes the objects of both runs at every durable write that one undo leads to: that of the run
 * whose call is undone, and that of the run that undoes it. Then kills the processes before, in and
 * after the effect of an undo. Two clicks come at once, and people click again until the call is
 * undone. Each mode has its own deployment.
 */
export const undo: Part = {
  name: "undo",
  claim: "objects and processes may end at any write of an undo, two clicks at once: once done",
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
  return withHost(context, async (host) => {
    const target = { url: host.url, token: TOKENS.chaos };
    const counts = { undos: 0, crashes: 0, kills: 0 };
    const failures: Failure[] = [];
    const carry = async (
      crash: Crash | null,
      kill?: { readonly name: string; readonly strike: () => Promise<unknown> },
    ): Promise<void> => {
      const where = crash ? `${crash.point}-${crash.mode}` : modes.join("-");
      const name = `undo-${seed}-${kill?.name ?? where}`;
      const planned = { operation: counts.undos * 2, name, crash, strike: kill?.strike };
      const problems = await undoOnce(context, target, planned);
      counts.kills += kill ? 1 : 0;
      counts.undos++;
      if (problems.length === 0) return;
      progress.keep(`FAIL ${name}\n       ${problems.join("\n       ")}`);
      failures.push({ name, problems });
    };
    await carry(null);
    await sleep(LAST_WRITES_MS);
    const { points } = await readCrashes(host.url, "runs");
    const random = seededRandom(seed, modes.join());
    for (const [index, label] of points.entries()) {
      for (const mode of modes) {
        if (isShort && !random.chance(SHORT_PERCENT)) continue;
        await carry({ point: index + 1, mode });
        progress.show(`undo: ${mode} ${index + 1} of ${points.length} (${label})`);
      }
    }
    counts.crashes = (await planCrash(host.url, "runs", null)).crashes;
    if (!isShort && counts.crashes === 0) failures.push({ name: "undo", problems: ["no crash"] });
    for (const instant of isShort ? [random.pick(INSTANTS)] : INSTANTS) {
      const strike = () => killAtEffect(context.world, host, { effect: 1, instant });
      await carry(null, { name: `kill-${instant}-${modes.join("-")}`, strike });
    }
    for (let kill = 0; kill < (isShort ? 0 : KILLS); kill++) {
      const strike = () => killAfter(host, random.below(LATEST_KILL_MS));
      await carry(null, { name: `kill-${kill}-${modes.join("-")}`, strike });
      progress.show(`undo: kill ${kill + 1}`);
    }
    failures.push(...(await leftOver(target, "undo")));
    return { counts, failures };
  });
}

interface Case {
  /** Number of the call; its undo has the next one. */
  readonly operation: number;
  readonly name: string;
  readonly crash: Crash | null;
  /** Kills the processes after both clicks. */
  readonly strike: (() => Promise<unknown>) | undefined;
}

/** Makes a call, undoes it while an object or its process ends, and tells what is wrong. */
async function undoOnce(
  { world }: PartContext,
  target: Target,
  { operation, name, crash, strike }: Case,
): Promise<readonly string[]> {
  const undoer = new Undoer(target);
  // A crash that the case before did not reach would meet the call, which only prepares this case.
  await planCrash(target.url, "runs", null);
  const runId = await undoer.call(UNDO_TOOLS[0], { operation, fault: "none" }, name);
  await planCrash(target.url, "runs", crash);
  await Promise.all([strike?.(), undoer.undo(runId), undoer.undo(runId)]);
  const end = await undoer.untilUndone(runId);
  const again = await undoer.undo(runId);
  await world.settled();
  const effects = world.effects.all();
  const made = effects.filter((entry) => entry.operation === operation + 1);
  const undoRun = end?.undo?.runId;
  const problems: string[] = [];
  if (end?.state !== "COMPENSATED") problems.push(`the call is ${end?.state}`);
  if (made.length !== 1) problems.push(`${made.length} keys of the undo`);
  const times = made.reduce((sum, entry) => sum + entry.effects, 0);
  if (times !== 1) problems.push(`undone ${times} times`);
  if (made.some((entry) => entry.runId !== undoRun)) problems.push("undone by another run");
  if (again.status !== 200 || again.runId !== undoRun) problems.push(`repeated: ${again.status}`);
  return problems;
}
