import { TOKENS } from "../deployment.ts";
import { miniflareHost } from "../hosts.ts";
import { inLanes } from "../lanes.ts";
import type { Failure, Part, PartContext, PartResult } from "../part.ts";
import { CRASH_MODES, UNDO_TOOLS, type Crash } from "../scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { planCrash, readCrashes } from "../shared-crashes.ts";
import { sleep } from "../sleep.ts";
import type { Target } from "../target.ts";
import { Undoer } from "../undoer.ts";

/** Percentage of the writes at which a short proof crashes. */
const SHORT_PERCENT = 8;
/** Time in which an undo that has ended finishes its last writes. Unit: milliseconds. */
const LAST_WRITES_MS = 500;

/**
 * Crashes the objects of both runs at every durable write that one undo leads to: that of the run
 * whose call is undone, and that of the run that undoes it. Two clicks come at once, and people
 * click again until the call is undone. Each mode has its own deployment.
 */
export const undo: Part = {
  name: "undo",
  claim: "objects may end at any write of an undo, two clicks at once: it happens once",
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
  const host = await miniflareHost(context.deployment, context.makeDirectory());
  await host.start();
  const target = { url: host.url, token: TOKENS.chaos };
  const counts = { undos: 0, crashes: 0 };
  const failures: Failure[] = [];
  const carry = async (crash: Crash | null): Promise<void> => {
    const name = `undo-${seed}-${crash ? `${crash.point}-${crash.mode}` : modes.join("-")}`;
    const problems = await undoOnce(context, target, { operation: counts.undos * 2, name, crash });
    counts.undos++;
    if (problems.length === 0) return;
    progress.keep(`FAIL ${name}\n       ${problems.join("\n       ")}`);
    failures.push({ name, problems });
  };
  try {
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
    return { counts, failures };
  } finally {
    await host.stop();
  }
}

interface Case {
  /** Number of the call; its undo has the next one. */
  readonly operation: number;
  readonly name: string;
  readonly crash: Crash | null;
}

/** Makes a call, undoes it while an object crashes, and tells what is wrong in the end. */
async function undoOnce(
  { world }: PartContext,
  target: Target,
  { operation, name, crash }: Case,
): Promise<readonly string[]> {
  const undoer = new Undoer(target);
  // A crash that the case before did not reach would meet the call, which only prepares this case.
  await planCrash(target.url, "runs", null);
  const runId = await undoer.call(UNDO_TOOLS[0], { operation, fault: "none" }, name);
  await planCrash(target.url, "runs", crash);
  await Promise.all([undoer.undo(runId), undoer.undo(runId)]);
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
