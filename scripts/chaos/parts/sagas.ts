import { TOKENS } from "../host/deployment.ts";
import { ask } from "../client/ask.ts";
import { withHost, type Host } from "../host/hosts.ts";
import { INSTANTS, killAtEffect, type KillPlan } from "../host/kill-at-effect.ts";
import { inLanes } from "../lanes.ts";
import { leftOver } from "../verify/left-over.ts";
import type { Failure, Part, PartContext, PartResult } from "../part.ts";
import { CRASH_MODES, SAGA_TOOLS } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { planCrash, readCrashes } from "../host/shared-crashes.ts";
import { sleep } from "../sleep.ts";
import type { Target } from "../client/target.ts";

/** Percentage of the writes at which a short proof crashes. */
const SHORT_PERCENT = 8;
/** Time in which a run that has ended finishes its last writes. Unit: milliseconds. */
const LAST_WRITES_MS = 500;
/** Longest time until a saga has ended. Unit: milliseconds. */
const ENDED_WITHIN_MS = 60_000;
const LOOK_AGAIN_MS = 50;
/** Effects of a saga that makes every step, and of one that is undone. */
const EFFECTS_MADE = 3;
const EFFECTS_UNDONE = 4;

/**
 * Crashes the object of a run at every durable write of a saga, and kills the processes before, in
 * and after each step and each compensation. One saga makes every step, the other is refused its
 * last one.
 */
export const sagas: Part = {
  name: "sagas",
  claim:
    "an object or its process may end at any write of a saga: each call has one effect at most",
  // A world of its own: the numbers of its operations are those of no other part.
  run: (context) => inLanes(context, 1, travelAll),
};

function travelAll(context: PartContext): Promise<PartResult> {
  return withHost(context, async (host) => {
    const trial = new Trial(context, host);
    for (const refuses of [false, true]) {
      await trial.crashEverywhere(refuses);
      await trial.killEverywhere(refuses);
    }
    return await trial.close();
  });
}

class Trial {
  readonly #context: PartContext;
  readonly #host: Host;
  readonly #target: Target;
  readonly #counts = { sagas: 0, crashes: 0, kills: 0 };
  readonly #failures: Failure[] = [];

  constructor(context: PartContext, host: Host) {
    this.#context = context;
    this.#host = host;
    this.#target = { url: host.url, token: TOKENS.chaos };
  }

  async crashEverywhere(refuses: boolean): Promise<void> {
    const { isShort, progress, seed } = this.#context;
    const { url } = this.#host;
    await planCrash(url, "runs", null);
    await this.#carry("whole", refuses);
    await sleep(LAST_WRITES_MS);
    const { points } = await readCrashes(url, "runs");
    const random = seededRandom(seed, String(refuses));
    for (const [index, label] of points.entries()) {
      for (const mode of CRASH_MODES) {
        if (isShort && !random.chance(SHORT_PERCENT)) continue;
        const { crashes } = await planCrash(url, "runs", { point: index + 1, mode });
        await this.#carry(`${index + 1}-${mode}`, refuses);
        this.#counts.crashes += (await planCrash(url, "runs", null)).crashes - crashes;
        progress.show(`sagas: ${mode} ${index + 1} of ${points.length} (${label})`);
      }
    }
  }

  async killEverywhere(refuses: boolean): Promise<void> {
    const { isShort, progress, seed, world } = this.#context;
    const effects = refuses ? EFFECTS_UNDONE : EFFECTS_MADE;
    const plans: KillPlan[] = [];
    for (let effect = 1; effect <= effects; effect++) {
      for (const instant of INSTANTS) plans.push({ effect, instant });
    }
    const shortest = seededRandom(seed, `kill ${refuses}`).below(plans.length);
    for (const plan of isShort ? plans.slice(shortest, shortest + 1) : plans) {
      const name = `kill-${plan.effect}-${plan.instant}`;
      const killed = killAtEffect(world, this.#host, plan);
      await this.#carry(name, refuses);
      if (!(await killed)) this.#fail(name, ["the saga has no such effect"]);
      this.#counts.kills++;
      progress.show(`sagas: ${name}`);
    }
  }

  async close(): Promise<PartResult> {
    const { crashes } = this.#counts;
    if (!this.#context.isShort && crashes === 0) this.#fail("sagas", ["no crash"]);
    this.#failures.push(...(await leftOver(this.#target, "sagas")));
    return { counts: this.#counts, failures: this.#failures };
  }

  async #carry(where: string, refuses: boolean): Promise<void> {
    const name = `sagas-${this.#context.seed}-${refuses ? "undone" : "made"}-${where}`;
    const operation = this.#counts.sagas++ * 6;
    const planned = { operation, refuses, name };
    this.#fail(name, await travel(this.#context, this.#target, planned));
  }

  #fail(name: string, problems: readonly string[]): void {
    if (problems.length === 0) return;
    this.#context.progress.keep(`FAIL ${name}\n       ${problems.join("\n       ")}`);
    this.#failures.push({ name, problems });
  }
}

interface Case {
  /** Number of the first call. A step and its compensation have numbers of their own. */
  readonly operation: number;
  /** The step that cannot be undone refuses, so the steps before it are undone. */
  readonly refuses: boolean;
  readonly name: string;
}

/** Makes a saga while its object or its process may end, and tells what is wrong in the end. */
async function travel(
  { world }: PartContext,
  target: Target,
  { operation, refuses, name }: Case,
): Promise<readonly string[]> {
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
  if (outcome?.status.taxonomy_class !== wanted) {
    problems.push(`the saga did not end with ${wanted}: ${JSON.stringify(outcome ?? null)}`);
  }
  return problems;
}

interface Observation {
  readonly status: { readonly taxonomy_class: string };
  readonly result_payload: { readonly errors: readonly object[] };
}

/** Asks under one key until the call has ended. Undefined: it took too long. */
async function untilEnded(
  target: Target,
  args: object,
  key: string,
): Promise<Observation | undefined> {
  const deadlineMs = Date.now() + ENDED_WITHIN_MS;
  while (Date.now() < deadlineMs) {
    const path = `/v1/tools/${SAGA_TOOLS[0]}/invoke`;
    const answer = await ask(target, path, { body: { arguments: args }, key });
    const { observation } = answer.body as { readonly observation?: Observation };
    if (answer.status === 200 && observation) return observation;
    await sleep(LOOK_AGAIN_MS);
  }
  return undefined;
}
