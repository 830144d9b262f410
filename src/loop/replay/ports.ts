import type { PolicyRegistry } from "../../capabilities/policy.ts";
import type { Log } from "../../capabilities/log.ts";
import type { RunPorts } from "../run-scope.ts";
import { replayApprovals, replayPlaces } from "./approvals.ts";
import { replayLedger } from "./budget-ledger.ts";
import { replayContext } from "./context.ts";
import type { Replay } from "./replay.ts";
import { codeOf } from "./evidence.ts";
import { replayHooks } from "./hooks.ts";
import { readSteps, replayModel } from "./model.ts";
import { ReplaySteering } from "./steering.ts";
import { replayBroker, replayTools } from "./tools.ts";

/**
 * The ports that decide in a replay: today's tool contracts, authorisation and request sizes, and
 * the signer that reads the tokens of votes. Contract: none of them has an effect.
 */
export type DecidingPorts = Pick<
  RunPorts,
  "source" | "authorizationOf" | "modelOf" | "inputBound" | "approvalSigner" | "fingerprints"
>;

/** Builds the ports of a replay. All but the deciding ones answer from the run's records. */
export function replayPorts(replay: Replay, deciding: DecidingPorts): Omit<RunPorts, "journal"> {
  const { evidence, clock } = replay;
  const { policy, laterPolicies = [] } = evidence;
  const policies = new Map([policy, ...laterPolicies].map((one) => [one.pin?.hash, one]));
  const model = replayModel(replay, readSteps(replay));
  return {
    ...deciding,
    source: replayTools(replay, deciding.source),
    broker: replayBroker(replay),
    ledger: replayLedger(replay, model),
    policies: {
      load: () => Promise.resolve(policy),
      learn: () => {},
      read: (_tenant, { hash }) => Promise.resolve(policies.get(hash) ?? policy),
    },
    registry: replayRegistry(replay),
    approvals: replayApprovals(replay),
    places: replayPlaces(replay),
    usedNames: { hash: () => Promise.resolve([]), known: () => Promise.resolve(new Set()) },
    model,
    inbox: new ReplaySteering(replay),
    contextHook: replayContext(evidence),
    hooks: replayHooks(replay),
    shelf: { load: () => Promise.resolve(new Map()) },
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

/** With this code a call ends that could not read the current policy. */
const UNAVAILABLE = "policy_unavailable";

/** Replays which policy was current, as far as requests of people and refused calls tell it. */
function replayRegistry({
  evidence,
  clock,
  recordOf,
}: Pick<Replay, "evidence" | "clock" | "recordOf">): Pick<PolicyRegistry, "current"> {
  const { approvals = [], invocations, policy } = evidence;
  const known = [
    ...approvals.map(({ askedAtMs, pin }) => ({ atMs: askedAtMs, pin })),
    ...invocations.flatMap(({ end }) =>
      end?.endedBy?.who === "policy" ? [{ atMs: end.startedAtMs, pin: end.endedBy.pin }] : [],
    ),
  ].toSorted((a, b) => a.atMs - b.atMs);
  return {
    current(_tenantId, asker) {
      const record = asker && recordOf(asker);
      // A call that was dispatched had read the policy before.
      if (record?.dispatches === 0 && codeOf(record) === UNAVAILABLE) {
        return Promise.reject(new Error("unreachable"));
      }
      const last = known.findLast(({ atMs }) => atMs <= clock.nowMs());
      return Promise.resolve(last?.pin ?? policy.pin);
    },
  };
}

/** What failed in the run is logged already. */
const NO_LOG: Log = { write: () => {}, fault: () => "err_replayed", about: () => NO_LOG };
