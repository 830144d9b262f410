import { fail } from "../../protocol/outcome/result.ts";
import type { ActiveCall } from "../active-call.ts";
import { Attempt, type AttemptResult } from "../attempt.ts";
import { readArguments } from "../gates/read-arguments.ts";
import { WAITING } from "../waiting.ts";
import { runSaga, type SagaPorts } from "./run-saga.ts";

/**
 * Goes on with a saga that an earlier incarnation, or an earlier wait, left open. Its own call has
 * passed every gate; each further step passes its own gates now.
 * Contract: when the saga's arguments cannot be read any more, its steps are undone.
 */
export async function continueSaga(
  ports: SagaPorts,
  call: ActiveCall,
): Promise<AttemptResult | typeof WAITING> {
  const { tool, toolCall, context, signal } = call;
  const record = ports.invocations.find(context);
  if (!tool.saga || !record) throw new Error(`${tool.id} is no running saga`);
  const attempt = new Attempt();
  const read = await readArguments(tool, toolCall, attempt.trail);
  if (read.ok) attempt.accept(read.value);
  else attempt.refuseArguments(read.failure);
  const args = read.ok ? { ok: true as const, value: read.value.args } : fail(read.failure.failure);
  const outcome = await runSaga(ports, { tool, plan: tool.saga, args, record, context, signal });
  if (outcome === WAITING) return WAITING;
  const shownArgs = record.binding?.shownArgs;
  const ended = await attempt.end({ ...call, ranWith: context }, outcome);
  return { ...ended, ...(shownArgs && { shownArgs }), dispatched: true };
}
