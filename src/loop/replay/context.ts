import type { ContextHook } from "../../capabilities/context.ts";
import { NO_CONTEXT } from "../history/load-context.ts";
import { buildPrompt } from "../history/prompt.ts";
import type { RunEvidence } from "./evidence.ts";

/**
 * Replays the deployment's hook of a run that ended because of it. No hook is asked. Undefined for
 * every other run: what its hook gave is in the evidence.
 */
export function replayContext({ claim, log }: RunEvidence): ContextHook | undefined {
  const done = log.at(-1);
  const code = done?.type === "done" ? done.error?.code : undefined;
  if (code === "context_unavailable") return () => Promise.reject(new Error("the hook failed"));
  // Without the value of a variable, the instructions fail by themselves.
  const isOfHook = code === "context_invalid" && buildPrompt(claim, NO_CONTEXT).ok;
  return isOfHook ? () => Promise.resolve({ variables: INVALID }) : undefined;
}

/** No name of a variable. */
const INVALID = { "": "" };
