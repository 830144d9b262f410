import { CLIENT_POSTS } from "./client-posts.ts";
import type { PartContext } from "../part.ts";
import { openEvents } from "./read-on.ts";
import { findUninterrupted } from "./run-stream.ts";
import { textOf, type ChaosScript } from "../world/scenario.ts";
import { sleep } from "../sleep.ts";
import type { Tally } from "../verify/tally.ts";
import { hasEnded, readState, readWhole, type SeenState, type Target } from "./target.ts";

interface ClientRun {
  readonly client: string;
  readonly script: ChaosScript;
  readonly tally: Tally;
  readonly target: Target;
}

/**
 * Starts a run as a client does. Its stream is cut by the kill, and must not look whole; the client
 * then reads the whole answer, and no post or read of it starts another run.
 */
export async function carryFor(
  context: PartContext,
  { client, script, tally, target }: ClientRun,
): Promise<void> {
  const posts = CLIENT_POSTS[client];
  if (!posts) throw new Error(`${client} has no posts`);
  const body = posts.bodyOf(script.id, JSON.stringify(script));
  const post = (more: object = {}): Promise<Response> =>
    fetch(`${target.url}${posts.path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${target.token}`,
        "content-type": "application/json",
        "idempotency-key": script.id,
      },
      body: JSON.stringify({ ...body, ...more }),
    });
  const first = await post();
  const runId = first.headers.get("x-run-id") ?? "";
  const { text: cut } = await readWhole(first.body ?? new ReadableStream(), async () => undefined);
  const problems = cut.includes(posts.end) ? ["the answer that was cut looks whole"] : [];
  const state = await untilEnded(context, target, runId);
  const read = await posts.readText(target, runId, post);
  if (read !== textOf(script)) problems.push(`read ${JSON.stringify(read)}`);
  const answer = await openEvents(target, runId, undefined);
  const stream = (await answer?.text()) ?? "";
  const approver = {
    approved: new Set<number>(),
    rejected: new Set<number>(),
    consents: 0,
    accepted: [],
    problems: [],
  };
  await tally.verify(
    { script, state, stream, uncut: undefined, approver },
    { name: script.id, mustSucceed: true },
  );
  tally.fail(script.id, [...problems, ...(await findUninterrupted(stream))]);
}

/** Waits for the end of a run; the operator answers what it asks. */
async function untilEnded(
  { operator }: PartContext,
  target: Target,
  runId: string,
): Promise<SeenState> {
  for (;;) {
    const state = await readState(target, runId);
    if (state?.status === "waiting") await operator.resolve(target, state);
    else if (state && hasEnded(state)) return state;
    await sleep(50);
  }
}
