import { TOKENS } from "../host/deployment.ts";
import { withHost } from "../host/hosts.ts";
import { untilClaimed } from "../host/incarnations.ts";
import { anyCrash } from "../world/make-script.ts";
import type { Part, PartContext } from "../part.ts";
import { isAscending, parseRunStream } from "../client/run-stream.ts";
import { textOf, type ChaosScript } from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { openEvents, readOn } from "../client/read-on.ts";
import { Tally } from "../verify/tally.ts";
import type { Target } from "../client/target.ts";

const READERS = 20;
const ROUNDS = 6;
const STEPS = 8;
const FRAMES = 24;
/** Size that fills every buffer between a run and a stalled reader. Unit: characters. */
const FRAME_CHARS = 32 * 1024;

/** Follows one run with twenty readers, of which one stalls. */
export const subscribers: Part = {
  name: "subscribers",
  claim: "a reader that stalls holds back nobody, and all of them read the same",
  async run(context) {
    const tally = new Tally(context);
    return withHost(context, async (host) => {
      const target = { url: host.url, token: TOKENS.chaos };
      const rounds = context.isShort ? 2 : ROUNDS;
      for (let round = 0; round < rounds && !tally.isFull; round++) {
        await readTogether({ context, tally, target, round });
        context.progress.show(`subscribers: round ${round}`);
      }
      return await tally.close(target);
    });
  },
};

interface Round {
  readonly context: PartContext;
  readonly tally: Tally;
  readonly target: Target;
  readonly round: number;
}

/** In every other round the object crashes while they read, and they resume. */
async function readTogether({ context, tally, target, round }: Round): Promise<void> {
  const id = `subscribers-${context.seed}-${round}`;
  const random = seededRandom(context.seed, id);
  const isCrashed = round % 2 === 1;
  const script = longScript(id, isCrashed ? [anyCrash(random, 30)] : []);
  const carried = tally.carry(target, script, { name: id, mustSucceed: true });
  const { runId } = await untilClaimed(target.url, id);
  const stalled = await openEvents(target, runId, undefined);
  const others = Array.from({ length: READERS - 1 }, () => readOn(target, runId));
  const streams = await Promise.all(others);
  const run = await carried;
  tally.count("readers", READERS);
  const last = await readOn(target, runId, stalled);
  const problems: string[] = [];
  for (const stream of [...streams, last]) {
    if (stream === run?.stream) continue;
    const { ids, text, doneCount } = await parseRunStream(stream);
    if (!isAscending(ids)) problems.push("ids do not ascend");
    if (doneCount !== 1) problems.push(`${doneCount} times done`);
    if (text !== textOf(script)) problems.push("a reader got another text");
    if (!isCrashed) problems.push("a reader got other bytes");
  }
  tally.fail(id, [...new Set(problems)]);
}

function longScript(id: string, crashes: ChaosScript["crashes"]): ChaosScript {
  const steps = Array.from({ length: STEPS }, (_, step) => ({
    text: Array.from({ length: FRAMES }, (_, frame) => `${step}/${frame} `),
    fillChars: FRAME_CHARS,
    calls:
      step === STEPS - 1
        ? []
        : [{ effectClass: "idempotent" as const, operation: step, fault: "none" as const }],
    paceMs: 2,
  }));
  return { id, steps, crashes };
}
