import { REPETITIONS } from "../../../test/fakes/repeated-frames.ts";
import { MODEL_IDS, TOKENS } from "../host/deployment.ts";
import { withHost } from "../host/hosts.ts";
import { inFlight } from "../in-flight.ts";
import { readIncarnations } from "../host/incarnations.ts";
import { anyCrash, plainScript } from "../world/make-script.ts";
import type { Part } from "../part.ts";
import { EFFECT_CLASSES, type ChaosScript } from "../world/scenario.ts";
import { type SeededRandom, seededRandom } from "../seeded-random.ts";
import { Tally } from "../verify/tally.ts";

const RUNS = 300;
const SHORT_RUNS = 6;
const RUNS_AT_ONCE = 16;
/** Write points of a run at which it may crash. */
const POINTS = 30;
const CRASHED_PERCENT = 60;

/** Lets a provider on each wire state its calls several times, while objects crash. */
export const repeats: Part = {
  name: "repeats",
  claim: "a provider may repeat its calls, under new ids too: each is made exactly once",
  async run(context) {
    const { seed, isShort, progress } = context;
    const tally = new Tally(context);
    return withHost(context, async (host) => {
      const target = { url: host.url, token: TOKENS.chaos };
      const numbers = Array.from({ length: isShort ? SHORT_RUNS : RUNS }, (_, number) => number);
      await inFlight(RUNS_AT_ONCE, numbers, async (number) => {
        if (tally.isFull) return;
        const id = `repeats-${seed}-${number}`;
        const script = repeatingScript(id, number, seededRandom(seed, id));
        await tally.carry(target, script, { name: id, mustSucceed: true });
        const incarnations = await readIncarnations(target.url, id);
        tally.count("crashes", incarnations.filter(({ crashed }) => crashed).length);
        progress.show(`repeats: run ${number} of ${numbers.length}`);
      });
      return await tally.close(target);
    });
  },
};

/** Plans a run whose provider repeats the calls of each step in a way of its own. */
function repeatingScript(id: string, number: number, random: SeededRandom): ChaosScript {
  const effectClass = random.pick(EFFECT_CLASSES);
  const plain = plainScript(id, effectClass, random);
  const model = MODEL_IDS[number % MODEL_IDS.length];
  return {
    ...plain,
    ...(model !== undefined && { model }),
    steps: plain.steps.map((step) => Object.assign({ repeats: random.pick(REPETITIONS) }, step)),
    crashes: random.chance(CRASHED_PERCENT) ? [anyCrash(random, POINTS)] : [],
  };
}
