import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { expect } from "vitest";
import type { TranscriptAnswer } from "../../src/capabilities/run.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";
import type { ActorId, TenantId } from "../../src/protocol/identity/ids.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { type Viewer, viewerOf } from "../../src/protocol/identity/viewer.ts";
import type { RunDeadline } from "../../durable-objects/deadlines.ts";
import { TOKENS } from "./tokens.ts";
import { bindings, send, stateOf, type Caller } from "./worker.ts";

/** Returns a new stub of a run's object, because a stub of an aborted object stays broken. */
export function stubOf(runId: string): DurableObjectStub {
  return bindings.RUNS.get(bindings.RUNS.idFromName(runId));
}

/** Returns a caller as a run's object sees it. */
export function viewerAs(caller: Caller): Viewer {
  const { tenantId, scopes } = TOKENS[caller];
  return viewerOf({
    tenantId: tenantId as TenantId,
    actorId: `user:${caller}` as ActorId,
    scopes,
    roles: [],
  });
}

/** Reads the conversation of an ended run, as the provider got it. */
export async function transcriptOf(
  runId: string,
  caller: Caller,
): Promise<readonly TranscriptMessage[]> {
  const stub = stubOf(runId) as unknown as {
    transcript(viewer: Viewer): Promise<TranscriptAnswer>;
  };
  const answer = await stub.transcript(viewerAs(caller));
  if (answer.kind !== "transcript") throw new Error(`transcript: ${answer.kind}`);
  return answer.messages;
}

/** Crashes a run's object at once. Uncommitted writes are lost. */
export async function crash(runId: string): Promise<void> {
  await runInDurableObject(stubOf(runId), (_object, state) => state.abort("crash")).catch(() => {});
}

export function rowsOf(
  runId: string,
  sql: string,
): Promise<readonly Record<string, SqlStorageValue>[]> {
  return runInDurableObject(stubOf(runId), (_object, state) =>
    state.storage.sql.exec(sql).toArray(),
  );
}

/** Returns the active and the paused deadlines by name. */
export async function deadlinesOf(runId: string): Promise<Readonly<Record<string, unknown>>> {
  const rows = await rowsOf(runId, "SELECT name, at_ms FROM deadlines");
  return Object.fromEntries(rows.map(({ name, at_ms }) => [name, at_ms]));
}

/** Makes a deadline due, and fires the object's alarm. */
export async function ring(runId: string, name: RunDeadline): Promise<void> {
  if (name === "retention" || name === "forget") {
    // An ended run sets these after its last byte has left.
    await expect.poll(() => deadlinesOf(runId)).toHaveProperty(name);
  }
  await rowsOf(
    runId,
    `UPDATE deadlines SET at_ms = 1 WHERE name = '${name}' AND at_ms IS NOT NULL`,
  );
  await ringAlarm(runId);
}

/** Fires the alarm before its time. */
export async function ringAlarm(runId: string): Promise<void> {
  await runInDurableObject(stubOf(runId), (_object, state) =>
    state.storage.setAlarm(Date.now() + 3_600_000),
  );
  await runDurableObjectAlarm(stubOf(runId)).catch(() => {});
}

/** Waits until a run's state matches. */
export async function untilState(
  runId: string,
  expected: object,
  caller: Caller = "lab",
): Promise<RunState> {
  await expect.poll(() => stateOf(runId, caller)).toMatchObject(expected);
  return stateOf(runId, caller);
}

/** Resolves the unknown outcome of an invocation. */
export function tellOutcome(
  runId: string,
  { invocation = "inv_1", body = {}, caller = "lab" }: Told,
): Promise<Response> {
  return send(`/v1/runs/${runId}/invocations/${invocation}/outcome`, {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

interface Told {
  readonly invocation?: string;
  readonly body?: unknown;
  readonly caller?: Caller;
}

export function cancel(runId: string, caller: Caller = "lab"): Promise<Response> {
  return send(`/v1/runs/${runId}/cancel`, { caller, method: "POST" });
}

/** Returns status and problem code of a refusal. */
export async function refusalOf(response: Response): Promise<readonly [number, unknown]> {
  const { code } = await response.json<{ code?: unknown }>();
  return [response.status, code];
}
