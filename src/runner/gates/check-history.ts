import { failCall } from "../../protocol/outcome/failures.ts";
import { SAME_RESULT, type CallHistory } from "../call-history.ts";
import type { ValiditySubject } from "./subjects.ts";
import { PASSED, type Gate } from "./gate.ts";

/** Stops a call that has returned the same result again and again. Fails: BUDGET_EXHAUSTED. */
export const checkHistory: Gate<ValiditySubject, { readonly history: CallHistory }> = {
  name: "history",
  check: ({ tool, accepted, isStep }, { history }) =>
    !isStep && history.isLooping(tool.id, accepted.payloadHash) ? DOOM_LOOP : PASSED,
};

const DOOM_LOOP = failCall("doom_loop", `${SAME_RESULT}; it is not made again, go on without it`);
