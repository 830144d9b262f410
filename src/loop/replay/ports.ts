import type { ApprovalDesk } from "../../capabilities/approval.ts";
import type { Log } from "../../capabilities/log.ts";
import type { RunPorts } from "../run-scope.ts";
import { replayLedger } from "./budget-ledger.ts";
import type { Replay } from "./evidence.ts";
import type { ReplayJournal } from "./journal.ts";
import { readSteps, replayModel } from "./model.ts";
import { ReplaySteering } from "./steering.ts";
import { replayBroker, replayTools } from "./tools.ts";

/**
 * The ports that decide in a replay: today's tool contracts, authorisation and request sizes.
 * Contract: none of them has an effect.
 */
export type DecidingPorts = Pick<RunPorts, "source" | "authorizationOf" | "modelOf" | "inputBound">;

/** Builds the ports of a replay. All but the deciding ones answer from the run's records. */
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
    places: NO_PLACES,
    approvalSigner: { sign: () => Promise.resolve(""), read: () => Promise.resolve(undefined) },
    fingerprints: { of: (_run, value) => Promise.resolve(value) },
    usedNames: { hash: () => Promise.resolve([]), known: () => Promise.resolve(new Set()) },
    model,
    inbox: new ReplaySteering(replay),
    hooks: [],
    shelf: { load: () => Promise.resolve(new Map()) },
    journal,
    clock,
    random: { fraction: () => 0 },
    log: NO_LOG,
    outcomeWaitMs: 0,
    undoWaitMs: 0,
    limitTime: () => {},
    limitStorage: () => {},
    endsAtMs: () => Number.POSITIVE_INFINITY,
  };
}

/** The approvals of a run that requested none. Only such a run can be replayed. */
export const NO_APPROVALS: ApprovalDesk = {
  newest: () => undefined,
  raises: () => [],
  wasRejected: () => false,
  countOpen: () => 0,
  countAsked: () => 0,
  withdraw: () => {},
  nextId: rejectApproval,
  ask: rejectApproval,
  consume: rejectApproval,
  takeAnswer: () => {},
};

const NO_PLACES: RunPorts["places"] = { take: rejectApproval };

/** What failed in the run is logged already. */
const NO_LOG: Log = { write: () => {}, fault: () => "err_replayed", about: () => NO_LOG };

function rejectApproval(): never {
  throw new Error("the replay requests an approval, and the run did not");
}
