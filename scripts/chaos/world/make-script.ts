import {
  CRASH_MODES,
  EFFECT_CLASSES,
  EFFECT_FAULTS,
  MODEL_FAULTS,
  type ChaosScript,
  type Crash,
  type EffectClass,
  type ScriptedCall,
  type ScriptedStep,
} from "./scenario.ts";
import type { SeededRandom } from "../seeded-random.ts";

const MAX_FRAMES = 4;
const MAX_PACE_MS = 15;
/** Percentage of the calls with approvals that are rejected. */
const REJECTED_PERCENT = 25;

/**
 * Plans a run of one class of effect: two parallel calls, one call, a last text. The world has no
 * faults, and nobody rejects the first call.
 */
export function plainScript(
  id: string,
  effectClass: EffectClass,
  random: SeededRandom,
): ChaosScript {
  const call = (operation: number): ScriptedCall => ({
    effectClass,
    operation,
    fault: "none",
    ...(operation > 0 && decisionOn(effectClass, random)),
  });
  const say = (step: number, calls: readonly ScriptedCall[]): ScriptedStep => ({
    text: words(`${id}.${step}`, 1 + random.below(MAX_FRAMES)),
    calls,
    paceMs: random.below(MAX_PACE_MS),
  });
  return { id, steps: [say(0, [call(0), call(1)]), say(1, [call(2)]), say(2, [])], crashes: [] };
}

/**
 * Plans a run with random faults of the world and random crashes in at most `maxCrashes`
 * incarnations.
 */
export function wildScript(id: string, random: SeededRandom, maxCrashes: number): ChaosScript {
  let operation = 0;
  const call = (): ScriptedCall => {
    const effectClass = random.pick(EFFECT_CLASSES);
    const fault = random.chance(40) ? random.pick(EFFECT_FAULTS) : "none";
    return { effectClass, operation: operation++, fault, ...decisionOn(effectClass, random) };
  };
  const steps = Array.from({ length: 1 + random.below(3) }, (_, step): ScriptedStep => ({
    text: words(`${id}.${step}`, random.below(MAX_FRAMES)),
    calls: Array.from({ length: 1 + random.below(3) }, call),
    ...(random.chance(10) && { fault: random.pick(MODEL_FAULTS) }),
    paceMs: random.below(MAX_PACE_MS),
  }));
  const end: ScriptedStep = { text: words(`${id}.end`, 1 + random.below(MAX_FRAMES)), calls: [] };
  const isCrashed = random.chance(60);
  const crashes = Array.from({ length: isCrashed ? 1 + random.below(maxCrashes) : 0 }, () =>
    anyCrash(random, 30),
  );
  return { id, steps: [...steps, end], crashes };
}

/** Plans a crash at one of the first `points` write points. */
export function anyCrash(random: SeededRandom, points: number): Crash {
  return { point: 1 + random.below(points), mode: random.pick(CRASH_MODES) };
}

function decisionOn(
  effectClass: EffectClass,
  random: SeededRandom,
): Pick<ScriptedCall, "isRejected"> {
  return effectClass === "approved" ? { isRejected: random.chance(REJECTED_PERCENT) } : {};
}

/** Makes distinct pieces of text, so that a lost or repeated piece is visible. */
function words(name: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${name}/${index} `);
}
