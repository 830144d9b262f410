import { withHost } from "../host/hosts.ts";
import { inFlight } from "../in-flight.ts";
import { endsWithoutRequests, readIncarnations } from "../host/incarnations.ts";
import { anyCrash, plainScript } from "../world/make-script.ts";
import type { Part, PartContext } from "../part.ts";
import { CRASH_MODES, EFFECT_CLASSES, isAttended, type ChaosScript } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { TOKENS } from "../host/deployment.ts";
import type { Target } from "../client/target.ts";
import { Tally } from "../verify/tally.ts";

const CRASHES = 2_000;
const SHORT_CRASHES = 20;
const RUNS_AT_ONCE = 16;
/** Percentage of runs without requests after their crash, which only the alarm can find. */
const WITHOUT_REQUESTS_PERCENT = 10;
/**
 * Some runs of each class and round crash in up to this many incarnations, more than recovery
 * allows.
 */
const MAX_CRASHES = 8;
/** Percentage of the cases that a short proof runs. */
const SHORT_PERCENT = 2;

/** Crashes the object at every durable write of every class of effect, round after round. */
export const killMatrix: Part = {
  name: "matrix",
  claim: "an object may end before, after or durably after any write",
  async run(context) {
    const tally = new Tally(context);
    return withHost(context, async (host) => {
      const target = { url: host.url, token: TOKENS.chaos };
      const wanted = context.isShort ? SHORT_CRASHES : CRASHES;
      const patient: Promise<void>[] = [];
      for (let round = 0; tally.count("crashes", 0) < wanted && !tally.isFull; round++) {
        const cases = await planRound(context, target, round);
        const quick = cases.filter(({ mostlyWaits }) => !mostlyWaits);
        for (const planned of cases.filter(({ mostlyWaits }) => mostlyWaits)) {
          patient.push(carry(context, { tally, target, planned }));
        }
        await inFlight(RUNS_AT_ONCE, quick, (planned) =>
          carry(context, { tally, target, planned }),
        );
        if (round > MAX_ROUNDS) tally.fail("matrix", ["too few crashes come about"]);
      }
      await Promise.all(patient);
      return await tally.close(target);
    });
  },
};

const MAX_ROUNDS = 50;

/** One run of the matrix. */
interface Planned {
  readonly name: string;
  readonly script: ChaosScript;
  /** The run gets no requests after its crash, so that only the alarm can find it. */
  readonly getsNoRequests: boolean;
  /** The case mostly waits, so it runs beside the others. */
  readonly mostlyWaits: boolean;
}

interface Carried {
  readonly tally: Tally;
  readonly target: Target;
  readonly planned: Planned;
}

async function carry(
  { progress }: PartContext,
  { tally, target, planned: { name, script, getsNoRequests } }: Carried,
): Promise<void> {
  if (tally.isFull) return;
  const waitForEnd = async (runId: string): Promise<void> => {
    tally.count("left alone");
    await endsWithoutRequests(target, runId);
  };
  await tally.carry(target, script, {
    name,
    waitForEnd: getsNoRequests ? waitForEnd : undefined,
    mustSucceed: true,
  });
  const incarnations = await readIncarnations(target.url, script.id);
  const crashes = incarnations.filter(({ crashed }) => crashed).length;
  tally.count("crashes", crashes);
  if (crashes === 0) tally.count("points not reached");
  progress.show(`matrix: ${tally.count("crashes", 0)} crashes, at ${name}`);
}

/** Runs each class once to learn its write points, then plans a crash at each of them. */
async function planRound(
  context: PartContext,
  target: Target,
  round: number,
): Promise<readonly Planned[]> {
  const { seed } = context;
  const cases: Planned[] = [];
  for (const effectClass of EFFECT_CLASSES) {
    const make = (id: string): ChaosScript =>
      plainScript(id, effectClass, seededRandom(seed + round, effectClass));
    const name = `matrix-${seed}-${round}-${effectClass}`;
    const tally = new Tally(context);
    await tally.carry(target, make(name), { name, mustSucceed: true });
    const [incarnation] = await readIncarnations(target.url, name);
    const points = incarnation?.points ?? [];
    const random = seededRandom(seed + round, `${effectClass} cases`);
    for (const [index, label] of points.entries()) {
      for (const mode of CRASH_MODES) {
        const id = `${name}-${index + 1}-${mode}`;
        if (context.isShort && !random.chance(SHORT_PERCENT)) continue;
        const script = { ...make(id), crashes: [{ point: index + 1, mode }] };
        const getsNoRequests =
          random.chance(WITHOUT_REQUESTS_PERCENT) && !context.isShort && !isAttended(effectClass);
        cases.push({
          name: `${id} (${label})`,
          script,
          getsNoRequests,
          mostlyWaits: getsNoRequests,
        });
      }
    }
    const mostCrashes = context.isShort ? 2 : MAX_CRASHES;
    for (let count = 2; count <= mostCrashes; count++) {
      const id = `${name}-crashes-${count}`;
      const crashes = Array.from({ length: count }, () => anyCrash(random, points.length));
      const script = { ...make(id), crashes };
      cases.push({ name: id, script, getsNoRequests: false, mostlyWaits: true });
    }
  }
  return cases;
}
