import type { ShownTurn } from "../../../src/protocol/conversation/shown.ts";
import { ask } from "../client/ask.ts";
import { TOKENS } from "../host/deployment.ts";
import { withHost, type Host } from "../host/hosts.ts";
import { killAfter } from "../host/kill-at-effect.ts";
import type { Part, PartContext } from "../part.ts";
import { textOf, type ChaosScript } from "../world/scenario.ts";
import { type SeededRandom, seededRandom } from "../seeded-random.ts";
import { sleep } from "../sleep.ts";
import { Tally } from "../verify/tally.ts";
import { askUnderKey, type Asked, type Target } from "../client/target.ts";

const CHATS = 6;
const TURNS = 20;
const SHORT_TURNS = 5;
const KILLED_PERCENT = 60;
/**
 * Latest kill after a post was sent: a turn is opened, claimed and ended within that time, and its
 * page is delivered 100 ms after the end. Unit: milliseconds.
 */
const LATEST_KILL_MS = 400;
/** Longest time of one turn. Unit: milliseconds. */
const PATIENCE_MS = 120_000;

/** Kills the process between the steps of a turn, while two devices go on with one chat. */
export const conversations: Part = {
  name: "conversations",
  claim: "a chat has each message once, in order, on every device, whatever dies in between",
  async run(context) {
    const tally = new Tally(context);
    return withHost(context, async (host) => {
      const target = { url: host.url, token: TOKENS.chaos };
      for (let chat = 0; chat < (context.isShort ? 1 : CHATS) && !tally.isFull; chat++) {
        await carryChat({ context, tally, host, target }, `chat-${context.seed}-${chat}`);
      }
      return await tally.close(target);
    });
  },
};

interface Scene {
  readonly context: PartContext;
  readonly tally: Tally;
  readonly host: Host;
  readonly target: Target;
}

/** One message: what a device sends, and what the model answers. */
interface Message {
  readonly id: string;
  readonly script: ChaosScript;
}

async function carryChat(scene: Scene, name: string): Promise<void> {
  const { context, tally, target } = scene;
  const random = seededRandom(context.seed, name);
  const said: Message[] = [];
  let head: string | undefined;
  let conversationId: string | undefined;
  for (let turn = 0; turn < (context.isShort ? SHORT_TURNS : TURNS); turn++) {
    const message = messageOf(`${name}-${turn}`, random);
    const place: Place = { conversationId, head };
    const [ended] = await Promise.all([
      untilEnded(scene, message, place),
      random.chance(KILLED_PERCENT) ? kill(scene, random.below(LATEST_KILL_MS)) : undefined,
    ]);
    if (ended === undefined) return tally.fail(name, [`${message.id} never ended`]);
    said.push(message);
    const late = await askOnce(target, messageOf(`${message.id}-late`, random), place);
    if (turn > 0) tally.fail(`${message.id}-late`, checkLate(late));
    head = ended;
    conversationId ??= head;
    tally.count("turns");
    context.progress.show(`${message.id} is over`);
  }
  tally.fail(name, await compare(target, conversationId ?? "", said));
  tally.fail(`${name}, deleted`, await erase(scene, conversationId ?? "", random));
}

/** Deletes a chat while the process is killed; answers what is wrong with the end. */
async function erase(
  scene: Scene,
  conversationId: string,
  random: SeededRandom,
): Promise<readonly string[]> {
  const { target, tally } = scene;
  const path = `/v1/conversations/${conversationId}`;
  const killed = kill(scene, random.below(LATEST_KILL_MS));
  const deadlineMs = Date.now() + PATIENCE_MS;
  let status = 0;
  while (status !== 200 && Date.now() < deadlineMs) {
    ({ status } = await ask(target, path, { method: "DELETE" }));
    // A deleted page, a busy run and a killed process all pass with time.
    if (status !== 200) await sleep(20);
  }
  await killed;
  tally.count("deletions");
  const read = await ask(target, `${path}/messages`);
  return [
    ...(status === 200 ? [] : [`the deletion ended with ${status}`]),
    ...(read.status === 410 ? [] : [`a read got ${read.status}`]),
  ];
}

/** Where a device goes on: the first message names nothing. */
interface Place {
  readonly conversationId: string | undefined;
  readonly head: string | undefined;
}

function messageOf(id: string, random: SeededRandom): Message {
  const text = Array.from({ length: 1 + random.below(4) }, (_, at) => `${id} says ${at}. `);
  const steps = [{ text, calls: [], paceMs: random.below(20) }];
  return { id, script: { id, steps, crashes: [] } };
}

async function kill({ host, tally }: Scene, delayMs: number): Promise<void> {
  await killAfter(host, delayMs);
  tally.count("kills");
}

/** Sends a message again until its run has ended; answers the run. */
async function untilEnded(
  { target }: Scene,
  message: Message,
  place: Place,
): Promise<string | undefined> {
  const deadlineMs = Date.now() + PATIENCE_MS;
  while (Date.now() < deadlineMs) {
    const answer = await askOnce(target, message, place);
    if (answer.kind === "stream") return answer.runId;
    if (answer.kind === "refused" && answer.status < 500 && !WAITS.has(answer.code))
      return undefined;
    await sleep(100);
  }
  return undefined;
}

/** Refusals that pass with time. */
const WAITS = new Set(["run_still_running", "turn_lapsed"]);

function askOnce(target: Target, { id, script }: Message, place: Place): Promise<Asked> {
  const { conversationId, head } = place;
  const body = {
    messages: [{ role: "user", content: JSON.stringify(script) }],
    ...(conversationId !== undefined && { conversationId, previousRunId: head, messageId: id }),
  };
  return askUnderKey(target, { key: id, body: JSON.stringify(body) }, () => Promise.resolve());
}

/** A device that did not hear of the last turn must hear of it now. */
function checkLate(late: Asked): readonly string[] {
  const isTold = late.kind === "refused" && late.code === "conversation_moved";
  return isTold ? [] : [`the other device got: ${late.kind}`];
}

/** Compares what every device reads with what was said. */
async function compare(
  target: Target,
  conversationId: string,
  said: readonly Message[],
): Promise<readonly string[]> {
  const turns = (await readTurns(target, conversationId)).toReversed();
  const problems = turns.length === said.length ? [] : [`${turns.length} turns of ${said.length}`];
  for (const [at, { id, script }] of said.entries()) {
    const turn = turns[at];
    if (!turn) continue;
    if (turn.parentId !== turns[at - 1]?.runId) problems.push(`${id} follows another turn`);
    const [asked, answered, ...more] = turn.messages;
    const text = answered && "parts" in answered ? textIn(answered.parts) : "";
    if (asked?.role !== "user" || asked.text !== JSON.stringify(script))
      problems.push(`${id} asked`);
    if (text !== textOf(script) || more.length > 0) problems.push(`${id} answered "${text}"`);
  }
  return problems;
}

type Answered = Extract<ShownTurn["messages"][number], { readonly parts: unknown }>;

function textIn(parts: Answered["parts"]): string {
  return parts.map((part) => (part.type === "text" ? part.text : "")).join("");
}

async function readTurns(target: Target, conversationId: string): Promise<readonly ShownTurn[]> {
  const turns: ShownTurn[] = [];
  let query = "?limit=7";
  for (;;) {
    const { body } = await ask(target, `/v1/conversations/${conversationId}/messages${query}`);
    const page = body as { readonly turns?: readonly ShownTurn[]; readonly next?: string };
    turns.push(...(page.turns ?? []));
    if (page.next === undefined) return turns;
    query = `?limit=7&cursor=${page.next}`;
  }
}
