import { readdirSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as wait } from "node:timers/promises";
import { chat, openChat, type Target } from "../client.ts";
import { startContender, type Contender } from "../contenders/start.ts";
import { takeTurns, type Bench, type Figure } from "../measure.ts";
import { readSocketChat, socketMessage } from "../socket-chat.ts";
import { median, quantile } from "../statistics.ts";
import { SCENARIOS } from "../upstream/scenario.ts";

const TURNS = 100;
const CHARS = 1_000;
const WARM_UP_ROUNDS = 10;
/** The page of a turn is delivered after its end. */
const DELIVERED_AFTER_MS = 1_000;
/** The aims: turn 100 beside turn 2. */
const DELTA_AIM = 1.15;

/**
 * Measures a chat of a hundred turns: the time to the first text in its last turn beside its second
 * one, and what it stores beside Cloudflare's agent. Bytes do not depend on the machine.
 */
export async function measureConversations(bench: Bench): Promise<readonly Figure[]> {
  const { plans, quick } = bench;
  const interlock = await startContender(plans.interlock);
  const runIds = await talk(sayTo(interlock));
  const stored = storedKib(interlock);
  const delta = await compareDeltas(interlock, runIds, quick ? 20 : 150);
  await interlock.stop();
  const agent = await startContender(plans.cloudflareAgent);
  await talk(sayToAgent(agent));
  const raw = { interlock: stored, cloudflareAgent: storedKib(agent) };
  await agent.stop();
  const ratio = { to: "Cloudflare's agent", value: raw.interlock / raw.cloudflareAgent };
  return [delta, { name: `conversations: ${TURNS} turns as stored`, unit: "KiB", raw, ratio }];
}

/** Says one thing; answers what names the turn. */
type Say = (text: string, before: string | undefined) => Promise<string>;

async function talk(say: Say): Promise<readonly string[]> {
  const named: string[] = [];
  for (let turn = 1; turn <= TURNS; turn++) {
    named.push(await say(`${turn} ${"what time is it ".repeat(CHARS)}`.slice(0, CHARS), named[0]));
  }
  await wait(DELIVERED_AFTER_MS);
  return named;
}

function sayTo(target: Target): Say {
  return async (text, conversationId) => {
    const messages = [{ role: "user", content: text }];
    const named = { messages, ...(conversationId !== undefined && { conversationId }) };
    const { response } = await openChat({ ...target, named }, SCENARIOS.firstByte);
    response.resume();
    await new Promise((resolve) => response.once("end", resolve));
    return String(response.headers["x-run-id"]);
  };
}

function sayToAgent({ port }: Contender): Say {
  const name = "chat-of-a-hundred-turns";
  const place = `http://127.0.0.1:${port}/agents/chat-agent/${name}/get-messages`;
  return async (text) => {
    const said = await (await fetch(place)).json<readonly unknown[]>();
    const messages = [...said, socketMessage(text)];
    await readSocketChat({ port, chat: { name, messages } }, SCENARIOS.firstByte, () => {});
    return name;
  };
}

/** Compares branches: each round asks a second turn and a hundredth one anew. */
async function compareDeltas(
  contender: Contender,
  runIds: readonly string[],
  rounds: number,
): Promise<Figure> {
  const [conversationId, ...later] = runIds;
  const parents = { second: conversationId, last: later.at(-2) };
  const times = { second: [] as number[], last: [] as number[] };
  const { firstByte } = SCENARIOS;
  await takeTurns(["second", "last"] as const, WARM_UP_ROUNDS + rounds, async (name) => {
    const target = { ...contender, named: { conversationId, parentId: parents[name] } };
    times[name].push((await chat(target, firstByte, firstByte.deltas)).firstDeltaMs);
  });
  const [second, last] = [times.second, times.last].map((all) => all.slice(WARM_UP_ROUNDS));
  const ratios = (last ?? []).map((value, round) => value / (second?.[round] ?? NaN));
  return {
    name: `conversations: time to the first text in turn ${TURNS}`,
    unit: "ms",
    raw: { interlock: median(last ?? []) },
    ratio: {
      to: "turn 2",
      value: median(ratios),
      range: [quantile(ratios, 0.1), quantile(ratios, 0.9)],
      atMost: DELTA_AIM,
    },
  };
}

/** Sums the databases of a contender's objects. */
function storedKib({ storagePath }: Contender): number {
  const files = readdirSync(storagePath, { recursive: true, encoding: "utf8" });
  const databases = files.filter((file) => file.endsWith(".sqlite") && !file.includes("metadata"));
  const bytes = databases.reduce((sum, file) => sum + sizeOf(join(storagePath, file)), 0);
  return bytes / 1024;
}

/** Counts its pages, also those that are in its log so far. */
function sizeOf(path: string): number {
  const database = new DatabaseSync(path);
  const count = database
    .prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size")
    .get();
  database.close();
  return Number(count?.["bytes"]);
}
