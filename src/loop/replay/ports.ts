import type { Log } from "../../capabilities/log.ts";
import type { RunPorts } from "../run-scope.ts";
import { REPLAY_PLACES, replayApprovals } from "./approvals.ts";
import { replayLedger } from "./budget-ledger.ts";
import type { Replay } from "./evidence.ts";
import type { ReplayJournal } from "./journal.ts";
import { readSteps, replayModel } from "./model.ts";
import { ReplaySteering } from "./steering.ts";
import { replayBroker, replayTools } from "./tools.ts";

/**
 * The ports that decide in a replay: today's tool contracts, authorisation and request sizes, and
 * the signer that reads the tokens of votes. Contract: none of them has an effect.
 */
export type DecidingPorts = Pick<
  RunPorts,
  "source" | "authorizationOf" | "modelOf" | "inputBound" | "approvalSigner"
>;

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
    approvals: replayApprovals(replay),
    places: REPLAY_PLACES,
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

/** What failed in the run is logged already. */
const NO_LOG: Log = { write: () => {}, fault: () => "err_replayed", about: () => NO_LOG };
