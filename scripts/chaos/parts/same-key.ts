import { TOKENS } from "../host/deployment.ts";
import { bodyOf } from "../client/follow-run.ts";
import { withHost } from "../host/hosts.ts";
import { untilClaimed } from "../host/incarnations.ts";
import { anyCrash, plainScript } from "../world/make-script.ts";
import type { Part, PartContext } from "../part.ts";
import {
  EFFECT_CLASSES,
  UNATTENDED_CLASSES,
  type ChaosScript,
  type EffectClass,
} from "../world/scenario.ts";
import { seededRandom } from "../seeded-random.ts";
import { Tally } from "../verify/tally.ts";
import { askUnderKey, type Asked, type Target } from "../client/target.ts";

const CLIENTS = [2, 10, 50, 200] as const;
const ROUNDS = 20;
const VARIANT_ROUNDS = 50;

/** Sends many requests under one idempotency key. */
export const sameKey: Part = {
  name: "same-key",
  claim: "one key is one run, for every caller, repeat and order of fields",
  async run(context) {
    const tally = new Tally(context);
    return withHost(context, async (host) => {
      const crowd = { context, tally, target: { url: host.url, token: TOKENS.chaos } };
      for (const clients of CLIENTS) {
        const rounds = context.isShort ? 2 : ROUNDS;
        for (let round = 0; round < rounds && !tally.isFull; round++) {
          await askAtOnce(crowd, clients, round);
        }
      }
      const rounds = context.isShort ? 4 : VARIANT_ROUNDS;
      for (let round = 0; round < rounds && !tally.isFull; round++) await askVariants(crowd, round);
      return await tally.close(crowd.target);
    });
  },
};

interface Crowd {
  readonly context: PartContext;
  readonly tally: Tally;
  readonly target: Target;
}

/** Plans the run of a round; the classes take turns. */
function scriptOf(
  id: string,
  seed: number,
  { round, classes }: { readonly round: number; readonly classes: readonly EffectClass[] },
): ChaosScript {
  const effectClass = classes[round % classes.length] ?? "read_only";
  return plainScript(id, effectClass, seededRandom(seed, id));
}

/** In every other round the run's object crashes during the run. */
async function askAtOnce(
  { context, tally, target }: Crowd,
  clients: number,
  round: number,
): Promise<void> {
  const id = `same-key-${context.seed}-${clients}-${round}`;
  const plain = scriptOf(id, context.seed, { round, classes: EFFECT_CLASSES });
  const isCrashed = round % 2 === 1;
  const crashes = isCrashed ? [anyCrash(seededRandom(context.seed, `${id} crash`), 20)] : [];
  const script = { ...plain, crashes };
  const request = { key: id, body: bodyOf(script) };
  const answers = await Promise.all(
    Array.from({ length: clients }, () => askUnderKey(target, request, () => Promise.resolve())),
  );
  tally.count("requests", clients);
  const run = await tally.carry(target, script, { name: id, mustSucceed: true });
  if (!run) return;
  const truth = { runId: run.state.runId, stream: run.stream, mayBeLost: isCrashed };
  const problems = answers.map((answer) => misfit(answer, truth));
  tally.fail(id, [...new Set(problems.filter((problem) => problem !== undefined))]);
  context.progress.show(`same-key: ${clients} clients, round ${round}`);
}

interface Truth {
  readonly runId: string;
  readonly stream: string;
  readonly mayBeLost: boolean;
}

function misfit(answer: Asked, { runId, stream, mayBeLost }: Truth): string | undefined {
  if (answer.kind === "refused") return `refused: ${answer.status} ${answer.code}`;
  if (answer.kind === "lost" && !mayBeLost) return "cut off";
  if (answer.runId !== undefined && answer.runId !== runId) return "another run";
  return answer.kind === "stream" && answer.stream !== stream ? "another stream" : undefined;
}

/**
 * Checks that field order does not matter, another body is refused, and another tenant gets another
 * run.
 */
async function askVariants({ context, tally, target }: Crowd, round: number): Promise<void> {
  const id = `variant-${context.seed}-${round}`;
  const script = scriptOf(id, context.seed, { round, classes: UNATTENDED_CLASSES });
  const body = { model: "chaos", ...(JSON.parse(bodyOf(script)) as object) };
  const ask = (asked: object, from: Target = target): Promise<Asked> =>
    askUnderKey(from, { key: id, body: JSON.stringify(asked) }, () => Promise.resolve());
  const changed = { ...body, toolIds: [] };
  const reordered = Object.fromEntries(Object.entries(body).toReversed());
  const whileItGoes = ask(body);
  // The other body may arrive first, before the object has seen this one.
  await untilClaimed(target.url, id);
  const early = await ask(changed);
  const first = await whileItGoes;
  const [late, again, elsewhere] = [
    await ask(changed),
    await ask(reordered),
    await ask(body, { ...target, token: TOKENS.other }),
  ];
  tally.count("variants", 3);
  const problems: string[] = [];
  for (const refused of [early, late]) {
    if (refused.kind !== "refused" || refused.code !== "request_key_reused") {
      problems.push(`another body: ${refused.kind}`);
    }
  }
  if (first.kind !== "stream" || again.kind !== "stream" || elsewhere.kind !== "stream") {
    problems.push(`not answered: ${first.kind}, ${again.kind}, ${elsewhere.kind}`);
  } else {
    if (again.stream !== first.stream) problems.push("another order of fields: another stream");
    if (elsewhere.runId === first.runId) problems.push("another tenant: the same run");
    problems.push(...verifyCounts(context, [first.runId, elsewhere.runId]));
  }
  tally.fail(id, problems);
}

/** Checks that each run did once what its script asks for. */
function verifyCounts({ world }: PartContext, runIds: readonly string[]): readonly string[] {
  return runIds.flatMap((runId) =>
    world.effects
      .ofRun(runId)
      .filter(({ effects, effectClass }) => effects !== (effectClass === "read_only" ? 0 : 1))
      .map(({ operation, effects }) => `${effects} effects of operation ${operation}`),
  );
}
