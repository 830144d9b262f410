import type { Operation, ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { NotReplayableReason } from "../../protocol/run/replay.ts";
import type { ReplayClock } from "./clock.ts";
import type { RunEvidence } from "./evidence.ts";
import type { RecordedCrash } from "./crash.ts";
import type { RecordedPeople } from "./people.ts";
import type { RecordedStop } from "./stop.ts";

/** What all ports of one replay share. */
export interface Replay {
  readonly evidence: RunEvidence;
  readonly clock: ReplayClock;
  readonly people: RecordedPeople;
  readonly stop: RecordedStop;
  readonly crash: RecordedCrash;
  /** Ids of the calls that have their result in the replay. */
  readonly answered: ReadonlySet<string>;
  readonly recordOf: (operation: Operation) => ToolInvocationRecord | undefined;
  /** Notes that the evidence lacks what the replay needs. The first reason is kept. */
  readonly markNotReplayable: (reason: NotReplayableReason) => void;
}
