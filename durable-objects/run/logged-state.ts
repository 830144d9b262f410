import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import type { LogEntry } from "./run-log.ts";
import type { RefusalEntry } from "../../src/run/stored-run.ts";
import { NEW_RUN, type RunProgress } from "../../src/run/progress.ts";

/** A publication in KV. `invocation` names the call; null is the run itself. */
export interface Publication {
  readonly seq: number;
  readonly invocation: number | null;
}

/** What the entries of a log come to. The messages stay in the log. */
export interface LoggedState {
  readonly progress: RunProgress;
  readonly invocations: ReadonlyMap<number, ToolInvocationRecord>;
  /** What was not delivered, in order. */
  readonly publications: readonly Publication[];
  readonly notices: readonly SentNotice[];
  /** What was counted of refused calls, in order. */
  readonly refusals: readonly RefusalEntry[];
  /** Highest number of a notice or a publication; 0 without any. */
  readonly lastSeq: number;
}

/** Reads what the entries of a log come to, when the notices up to a number were delivered. */
export function replayLog(entries: Iterable<LogEntry>, deliveredSeq: number): LoggedState {
  const changes: Partial<RunProgress>[] = [];
  let lastSeq = 0;
  const invocations = new Map<number, ToolInvocationRecord>();
  let publications: Publication[] = [];
  let notices: SentNotice[] = [];
  const refusals: RefusalEntry[] = [];
  for (const entry of entries) {
    if ("seq" in entry) lastSeq = Math.max(lastSeq, entry.seq);
    if (entry.kind === "progress") changes.push(entry.changed);
    else if (entry.kind === "invocation") {
      const { number, changed } = entry;
      const record = { ...invocations.get(number), ...changed };
      invocations.set(number, record as ToolInvocationRecord);
    } else if (entry.kind === "notice") notices.push({ seq: entry.seq, notice: entry.notice });
    else if (entry.kind === "publication") {
      publications.push({ seq: entry.seq, invocation: entry.invocation });
    } else if (entry.kind === "refused" || entry.kind === "refusals_reported") {
      refusals.push(entry);
    } else if (entry.kind === "delivered") {
      publications = publications.filter(({ seq }) => seq !== entry.seq);
    }
  }
  const progress = Object.assign({ ...NEW_RUN }, ...changes) as RunProgress;
  notices = notices.filter(({ seq }) => seq > deliveredSeq);
  return { progress, invocations, publications, notices, refusals, lastSeq };
}
