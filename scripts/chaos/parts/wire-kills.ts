import { MODEL_IDS, TOKENS } from "../host/deployment.ts";
import { carryFor } from "../client/carry-for-client.ts";
import { CLIENT_POSTS } from "../client/client-posts.ts";
import { withHost, type Host } from "../host/hosts.ts";
import { plainScript } from "../world/make-script.ts";
import type { Part, PartContext } from "../part.ts";
import { findUninterrupted } from "../client/run-stream.ts";
import { UNATTENDED_CLASSES, type ChaosScript } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { Tally } from "../verify/tally.ts";

/** Words of the answer that is cut, so that its half lies in its text. */
const CUT_ANSWER = Array.from({ length: 24 }, (_, index) => `word ${index} `);

/**
 * Kills the process once an answer on each wire of a model, and to each client, is half there, and
 * starts it again.
 */
export const wireKills: Part = {
  name: "wires",
  claim: "so may the processes, in the middle of an answer on each model wire and to each client",
  async run(context) {
    const tally = new Tally(context);
    return withHost(context, async (host) => {
      const kills = context.isShort ? 1 : 30;
      for (let kill = 0; kill < kills && !tally.isFull; kill++) {
        await killInAnswers(context, { tally, host, name: `wires-${context.seed}-${kill}` });
      }
      return await tally.close({ url: host.url, token: TOKENS.chaos });
    });
  },
};

interface Kill {
  readonly tally: Tally;
  readonly host: Host;
  readonly name: string;
}

/** Starts one run on each wire. Each stalls in one answer, so the kill finds all of them there. */
async function killInAnswers(context: PartContext, { tally, host, name }: Kill): Promise<void> {
  const random = seededRandom(context.seed, name);
  const target = { url: host.url, token: TOKENS.chaos };
  const cut = context.isShort ? 1 : random.below(3);
  const scripts = MODEL_IDS.map((model) => {
    const effectClass = random.pick(UNATTENDED_CLASSES);
    return stallIn(cut, { ...plainScript(`${name}-${model}`, effectClass, random), model });
  });
  const posts = Object.keys(CLIENT_POSTS).map((client) => {
    const script = plainScript(`${name}-${client}`, random.pick(UNATTENDED_CLASSES), random);
    return { client, script: stallIn(cut, script) };
  });
  const allStalled = waitForHalves(
    context,
    [...scripts, ...posts.map(({ script }) => script)].map(({ id }) => `${id}/${cut}`),
  );
  const carried = scripts.map(async (script) => {
    const run = await tally.carry(target, script, { name: script.id, mustSucceed: true });
    if (!run) return;
    tally.fail(script.id, await findUninterrupted(run.stream));
  });
  const answered = posts.map((post) => carryFor(context, { ...post, tally, target }));
  await Promise.race([allStalled, Promise.all([...carried, ...answered])]);
  host.kill();
  tally.count("kills");
  await host.gone();
  await host.start();
  await Promise.all([...carried, ...answered]);
  context.progress.show(`${name} is over`);
}

function stallIn(at: number, script: ChaosScript): ChaosScript {
  const step = { calls: [], ...script.steps[at], text: CUT_ANSWER, fault: "stall" } as const;
  return { ...script, steps: script.steps.with(at, step) };
}

/** Resolves once half the answer to each of these model calls is sent. */
function waitForHalves({ world }: PartContext, modelCalls: readonly string[]): Promise<void> {
  return new Promise((resolve) => {
    const awaited = new Set(modelCalls);
    const ignore = world.listen((moment, modelCall = "") => {
      if (moment !== "model_half" || !awaited.delete(modelCall) || awaited.size > 0) return;
      ignore();
      resolve();
    });
  });
}
