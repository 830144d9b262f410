import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { RunPorts } from "../open-steps.ts";
import { replayLedger } from "./budget-ledger.ts";
import type { Replay } from "./evidence.ts";
import type { ReplayJournal } from "./journal.ts";
import { replayModel, readSteps } from "./model.ts";
import { ReplaySteering } from "./steering.ts";
import { replayBroker, replayTools } from "./tools.ts";

/** What decides: the tools' contracts of now, who may do what, how long a request is. Contract: none acts on anything. */
export type DecidingPorts = Pick<RunPorts, "source" | "authorizationOf" | "inputBound">;

export function replayPorts(
  replay: Replay,
  journal: ReplayJournal,
  deciding: DecidingPorts,
): RunPorts {
  const { evidence, clock } = replay;
  const { policy } = evidence;
  const model = replayModel(replay, readSteps(evidence));
  return {
    ...deciding,
    source: replayTools(replay, deciding.source),
    broker: replayBroker(replay),
    ledger: replayLedger(replay, model),
    policies: {
      load: () => Promise.resolve(policy),
      learn: () => {},
      read: () => Promise.resolve(policy),
    },
    registry: { current: () => Promise.resolve(policy.pin) },
    approvals: NO_APPROVALS,
    approvalSigner: { sign: () => Promise.resolve(""), read: () => Promise.resolve(undefined) },
    model,
    inbox: new ReplaySteering(replay),
    hooks: [],
    journal,
    clock,
    random: { fraction: () => 0 },
    outcomeWaitMs: 0,
    limitTime: () => {},
  };
}

/** The questions of a run that asked nobody, which is the only one that can be played. */
export const NO_APPROVALS: ApprovalDesk = {
  newest: () => undefined,
  wasRejected: () => false,
  withdraw: () => {},
  nextId: rejectApproval,
  ask: rejectApproval,
  consume: rejectApproval,
};

function rejectApproval(): never {
  throw new Error("the replay asks people, and the run did not");
}
