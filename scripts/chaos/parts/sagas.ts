import { TOKENS } from "../deployment.ts";
import { miniflareHost } from "../hosts.ts";
import type { Failure, Part, PartContext, PartResult } from "../part.ts";
import { CRASH_MODES, SAGA_TOOLS, type Crash } from "../scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { planCrash, readCrashes } from "../shared-crashes.ts";
import { sleep } from "../sleep.ts";
import { ANSWER_TIMEOUT_MS, type Target } from "../target.ts";

/** Percentage of the writes at which a short proof crashes. */
const SHORT_PERCENT = 8;
/** Time in which a run that has ended finishes its last writes. Unit: milliseconds. */
const LAST_WRITES_MS = 500;
/** Longest time until a saga has ended. Unit: milliseconds. */
const ENDED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 50;

/**
 * Crashes the object of a run at every durable write of a saga: before, in and after each step and
 * each compensation. One saga makes every step, the other is refused its last one.
 */
export const sagas: Part = {
  name: "sagas",
  claim: "an object may end at any write of a saga: each call of it has at most one effect",
  async run(context) {
    const { isShort, makeDirectory, progress, seed } = context;
    const host = await miniflareHost(context.deployment, makeDirectory());
    await host.start();
    const target = { url: host.url, token: TOKENS.chaos };
    const counts = { sagas: 0, crashes: 0 };
    const failures: Failure[] = [];
    const carry = async (refuses: boolean, crash: Crash | null): Promise<void> => {
      const where = crash ? `${crash.point}-${crash.mode}` : "whole";
      const name = `sagas-${seed}-${refuses ? "undone" : "made"}-${where}`;
      const planned = { operation: counts.sagas * 6, refuses, name, crash };
      const problems = await travel(context, target, planned);
      counts.sagas++;
      if (problems.length === 0) return;
      progress.keep(`FAIL ${name}\n       ${problems.join("\n       ")}`);
      failures.push({ name, problems });
    };
    try {
      for (const refuses of [false, true]) {
        await carry(refuses, null);
        await sleep(LAST_WRITES_MS);
        const { points } = await readCrashes(host.url, "runs");
        const random = seededRandom(seed, String(refuses));
        for (const [index, label] of points.entries()) {
          for (const mode of CRASH_MODES) {
            if (isShort && !random.chance(SHORT_PERCENT)) continue;
            await carry(refuses, { point: index + 1, mode });
            progress.show(`sagas: ${mode} ${index + 1} of ${points.length} (${label})`);
          }
        }
      }
      counts.crashes = (await planCrash(host.url, "runs", null)).crashes;
      if (!isShort && counts.crashes === 0)
        failures.push({ name: "sagas", problems: ["no crash"] });
      return { counts, failures } satisfies PartResult;
    } finally {
      await host.stop();
    }
  },
};

interface Case {
  /** Number of the first call. A step and its compensation have numbers of their own. */
  readonly operation: number;
  /** The step that cannot be undone refuses, so the steps before it are undone. */
  readonly refuses: boolean;
  readonly name: string;
  readonly crash: Crash | null;
}

/** Makes a saga while its object crashes, and tells what is wrong in the end. */
async function travel(
  { world }: PartContext,
  target: Target,
  { operation, refuses, name, crash }: Case,
): Promise<readonly string[]> {
  await planCrash(target.url, "runs", crash);
  const outcome = await untilEnded(target, { operation, refuses }, name);
  await world.settled();
  const all = world.effects.all();
  const effectsOf = (offset: number): number =>
    all
      .filter((entry) => entry.operation === operation + offset)
      .reduce((sum, entry) => sum + entry.effects, 0);
  const made = [0, 1, 2, 3, 4].map(effectsOf).join(" ");
  const expected = refuses ? "1 1 1 1 0" : "1 0 1 0 1";
  const problems: string[] = [];
  if (made !== expected) problems.push(`the effects are ${made}, not ${expected}`);
  const wanted = refuses ? "SEMANTIC_INVALIDITY" : "SUCCESS";
  if (outcome !== wanted) problems.push(`the saga ended with ${outcome}, not ${wanted}`);
  return problems;
}

/** Asks under one key until the call has ended. Returns its outcome, or that it took too long. */
async function untilEnded({ url, token }: Target, args: object, key: string): Promise<string> {
  const deadlineMs = Date.now() + ENDED_WITHIN_MS;
  while (Date.now() < deadlineMs) {
    try {
      const answer = await fetch(`${url}/v1/tools/${SAGA_TOOLS[0]}/invoke`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          "idempotency-key": `"${key}"`,
        },
        body: JSON.stringify({ arguments: args }),
        signal: AbortSignal.timeout(ANSWER_TIMEOUT_MS),
      });
      const body = await answer.json<{ observation?: { status: { taxonomy_class: string } } }>();
      if (answer.status === 200 && body.observation) return body.observation.status.taxonomy_class;
    } catch {
      // The object crashed while it answered.
    }
    await sleep(LOOK_AGAIN_MS);
  }
  return "no outcome in time";
}
