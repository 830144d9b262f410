import { TOKENS, type Deployment } from "../host/deployment.ts";
import { miniflareHost, wranglerHost, type Host } from "../host/hosts.ts";
import { inLanes } from "../lanes.ts";
import { endsWithoutRequests } from "../host/incarnations.ts";
import { plainScript } from "../world/make-script.ts";
import type { Part, PartContext } from "../part.ts";
import { EFFECT_CLASSES, isAttended, type EffectClass } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { sleep } from "../sleep.ts";
import { Tally } from "../verify/tally.ts";
import { MOMENTS } from "../world/world.ts";

/** Running runs at each kill; the classes of effect take turns. */
const RUNS_AT_ONCE = 8;
/** Percentage of runs without requests after the kill, which only an overdue alarm can find. */
const WITHOUT_REQUESTS_PERCENT = 50;
/** Deployments that are killed side by side. */
const LANES = 2;
/** Latest time of a kill when its moment does not come. Unit: milliseconds. */
const LATEST_KILL_MS = 1_500;
/** Most moments of one kind that pass before the one that kills. */
const MAX_MOMENTS = 12;

interface Kills {
  /** Separates these runs from others of the same seed. */
  readonly name: string;
  readonly kills: number;
  readonly hostOf: (deployment: Deployment, directory: string) => Promise<Host>;
}

/** Kills Miniflare and its workerd during runs, and starts them again on their stored state. */
export const miniflareKills: Part = {
  name: "miniflare",
  claim: "the processes may be killed at any instant and started again",
  run: (context) => {
    const kills = context.isShort ? 1 : 180 / LANES;
    return inLanes(context, LANES, (lane, number) =>
      killAgain(lane, { name: `miniflare-${number}`, kills, hostOf: miniflareHost }),
    );
  },
};

/** Kills the whole process tree of `wrangler dev` in the same way. */
export const wranglerKills: Part = {
  name: "wrangler",
  claim: "so may the whole tree of wrangler dev",
  run: (context) => {
    const kills = context.isShort ? 1 : 20;
    return inLanes(context, 1, (lane) =>
      killAgain(lane, { name: "wrangler", kills, hostOf: wranglerHost }),
    );
  },
};

async function killAgain(
  context: PartContext,
  { name, kills, hostOf }: Kills,
): ReturnType<Part["run"]> {
  const tally = new Tally(context);
  const host = await hostOf(context.deployment, context.makeDirectory());
  await host.start();
  try {
    const apart: Promise<void>[] = [];
    const calm = Promise.withResolvers<void>();
    const shared = { tally, host, apart, calm: calm.promise };
    for (let kill = 0; kill < kills && !tally.isFull; kill++) {
      await killOnce(context, { ...shared, name: `${name}-${context.seed}-${kill}` });
    }
    calm.resolve();
    await Promise.all(apart);
    return await tally.close({ url: host.url, token: TOKENS.chaos });
  } finally {
    await host.stop();
  }
}

interface Kill {
  readonly tally: Tally;
  readonly host: Host;
  readonly name: string;
  /** Runs without requests: their alarm fires later, during other kills or between them. */
  readonly apart: Promise<void>[];
  /** Resolves when there are no more kills. */
  readonly calm: Promise<void>;
}

/** Starts runs, kills the host at one moment, starts it again, and follows every run to its end. */
async function killOnce(context: PartContext, kill: Kill): Promise<void> {
  const { tally, host, name, apart, calm } = kill;
  const { seed, isShort, progress } = context;
  const random = seededRandom(seed, name);
  const target = { url: host.url, token: TOKENS.chaos };
  const killed = killAtMoment(context, host, `${name} moment`);
  const classOf = (index: number): EffectClass =>
    EFFECT_CLASSES[index % EFFECT_CLASSES.length] ?? "read_only";
  const carry = async (index: number, getsNoRequests: boolean): Promise<void> => {
    const effectClass = classOf(index);
    const script = plainScript(`${name}-${index}`, effectClass, random);
    const waitForEnd = async (runId: string): Promise<void> => {
      tally.count("left alone");
      await endsWithoutRequests(target, runId, calm);
    };
    await sleep(random.below(100));
    await tally.carry(target, script, {
      name: script.id,
      waitForEnd: getsNoRequests ? waitForEnd : undefined,
      mustSucceed: true,
    });
  };
  const asked: Promise<void>[] = [];
  for (let index = 0; index < RUNS_AT_ONCE; index++) {
    const getsNoRequests =
      !isShort && !isAttended(classOf(index)) && random.chance(WITHOUT_REQUESTS_PERCENT);
    (getsNoRequests ? apart : asked).push(carry(index, getsNoRequests));
  }
  await killed;
  tally.count("kills");
  await host.gone();
  await host.start();
  await Promise.all(asked);
  progress.show(`${name} is over`);
}

/** Kills the host within the request that makes the moment, or at the latest time. */
function killAtMoment({ world, seed }: PartContext, host: Host, name: string): Promise<void> {
  const random = seededRandom(seed, name);
  const awaited = random.pick(MOMENTS);
  let left = 1 + random.below(MAX_MOMENTS);
  return new Promise((resolve) => {
    const kill = (): void => {
      clearTimeout(timer);
      ignore();
      host.kill();
      resolve();
    };
    const timer = setTimeout(kill, random.chance(20) ? random.below(300) : LATEST_KILL_MS);
    const ignore = world.listen((moment) => {
      if (moment === awaited && --left === 0) kill();
    });
  });
}
