import { fail } from "../protocol/outcome/result.ts";
import type { ActiveCall } from "./active-call.ts";
import { Attempt, type AttemptResult } from "./attempt.ts";
import { executeCall, type ExecutePorts } from "./execute-call.ts";
import { prepare, type PreparePorts } from "./prepare.ts";
import { toolFailed } from "./outcome/tool-failure.ts";
import { WAITING } from "./waiting.ts";

/**
 * Makes one attempt at a call: prepares it through every gate, then executes it. Only
 * reservations, approvals and the operation's binding are kept for the next attempt.
 * Contract: never throws. When an author's code throws before the dispatch, the call fails.
 */
export async function makeAttempt(
  ports: PreparePorts & ExecutePorts,
  call: ActiveCall,
): Promise<AttemptResult | typeof WAITING> {
  const attempt = new Attempt();
  try {
    const prepared = await prepare(ports, call, attempt);
    if (!prepared.ok) {
      return prepared.failure === WAITING
        ? WAITING
        : await attempt.end(call, fail(prepared.failure));
    }
    const outcome = await executeCall(ports, prepared.value, attempt);
    if (outcome === WAITING) return WAITING;
    return await attempt.end(call, outcome);
  } catch (thrown) {
    const about = { toolId: call.tool.id, toolVersion: call.tool.version };
    return attempt.end(call, toolFailed(ports.log.fault("call_failed", thrown, about)));
  } finally {
    attempt.close();
  }
}
