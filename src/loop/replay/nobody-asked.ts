import type { ApprovalDesk } from "../../capabilities/approval.ts";

/** The questions of a run that asked nobody, which is the only one that can be played. */
export const NOBODY_ASKED: ApprovalDesk = {
  newest: () => undefined,
  wasRejected: () => false,
  withdraw: () => {},
  nextId: outOfTune,
  ask: outOfTune,
  consume: outOfTune,
};

function outOfTune(): never {
  throw new Error("the replay asks people, and the run did not");
}
