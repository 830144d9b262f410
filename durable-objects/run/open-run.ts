import type { MismatchNotes } from "../../src/capabilities/run-journal.ts";
import type { Clock } from "../../src/capabilities/system.ts";
import { newRunMemory, readProgress, type RunMemory } from "../../src/loop/run-memory.ts";
import type { HookContext } from "../../src/protocol/assistant/context.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import type { RunClaim } from "../../src/protocol/run/claim.ts";
import type { StreamedRun } from "../../src/protocol/run/client-wire.ts";
import { ApprovalNotices } from "../../src/run/approvals/notices.ts";
import { EventFeed } from "./event-feed.ts";
import { EventLog } from "./event-log.ts";
import { Outbox } from "./outbox.ts";
import type { Run } from "../../src/run/run.ts";
import type { RunStore } from "./run-store.ts";
import { RefusalTally } from "../../src/run/notices/refusal-tally.ts";
import { RunApprovals } from "../../src/run/approvals/run-approvals.ts";
import { StoredApprovals } from "./stored-approvals.ts";
import { UntoldMismatches } from "../../src/run/verification/mismatch-notes.ts";
import { RunNotices, type RunMetrics } from "../../src/run/notices/run-notices.ts";
import { StoredFiles } from "./stored-files.ts";
import { StoredResults } from "./stored-results.ts";
import { StoredInbox } from "./stored-inbox.ts";
import { RunInvocations } from "../../src/run/invocations.ts";
import { StoredJournal } from "./stored-journal.ts";
import { StoredPrompt } from "./stored-prompt.ts";
import { StoredTranscript } from "./stored-transcript.ts";

export interface OpenRunPorts {
  readonly storage: DurableObjectStorage;
  readonly store: RunStore;
  readonly clock: Clock;
  readonly abandon: (cause: unknown) => void;
  /** Counts the run at its end. Absent: the deployment has no metrics. */
  readonly metrics?: Omit<RunMetrics, "approvals"> | undefined;
}

/** A claimed run in memory, over its tables: with its events, its readers and its deliveries. */
export interface OpenRun extends Run {
  readonly store: RunStore;
  readonly journal: StoredJournal;
  readonly outbox: Outbox;
  readonly log: EventLog;
  readonly feed: EventFeed;
  readonly inbox: StoredInbox;
  readonly results: StoredResults;
  /** Those that the loop has to tell the model of. */
  readonly mismatches: MismatchNotes;
}

/** Opens a claimed run. Contract: its tables exist. */
export function openRun({ storage, store, clock, abandon, metrics }: OpenRunPorts): OpenRun {
  const { sql } = storage;
  const progress = store.progress();
  const { runId, createdMs } = store.identity();
  const [tables, logged] = [store.tables(), store.logged()];
  const ended = progress.reason !== null;
  const { epoch, isWaiting } = store.incarnations();
  const log = new EventLog(sql, store.log, epoch);
  const feed = new EventFeed({ log, run: streamedRunOf(store), clock, ended, isWaiting });
  const transcript = new StoredTranscript(store.log);
  const prompt = new StoredPrompt(sql, tables);
  const files = new StoredFiles(sql, tables);
  const results = new StoredResults(sql, tables);
  const invocations = new RunInvocations(store.log, logged.invocations);
  const outbox = new Outbox(store, logged, createdMs);
  const refusals = new RefusalTally(store.log, logged.refusals);
  const records = new StoredApprovals(sql, tables);
  const notices = new RunNotices({
    store,
    invocations,
    outbox,
    refusals,
    metrics: metrics && { ...metrics, approvals: records },
  });
  const inbox = new StoredInbox(sql, tables);
  const journal = new StoredJournal({
    log,
    store,
    transcript,
    prompt,
    files,
    invocations,
    outbox,
    notices,
    feed,
    clock,
    progress,
    abandon,
    sync: () => storage.sync(),
  });
  const approvals = new RunApprovals({
    approvals: records,
    invocations,
    journal,
    notices: new ApprovalNotices(outbox, runId, refusals),
    runId,
  });
  if (ended || store.claimed()?.call) inbox.close();
  else if (tables.has("inbox")) inbox.restore(countSteering(transcript, store));
  const stored = { store, transcript, prompt, invocations, outbox, log };
  const mismatches = new UntoldMismatches(invocations);
  return { ...stored, notices, feed, journal, approvals, inbox, mismatches, files, results };
}

/** Reads the facts of a run that an encoder may add to its events. */
export function streamedRunOf(store: RunStore): StreamedRun {
  const { runId, model, createdMs } = store.identity();
  return { runId, workflowId: store.claimed()?.workflowId ?? runId, model, createdMs };
}

/** Counts the steering messages that the conversation holds. */
function countSteering(transcript: StoredTranscript, store: RunStore): number {
  const grown = transcript.all().slice(store.identity().claimedMessages);
  return grown.filter(({ role, ...message }) => role === "user" && !("aboutInvocation" in message))
    .length;
}

/** What the loop of a run starts from. */
export interface ClaimAndMemory {
  readonly claim: RunClaim;
  readonly memory: RunMemory;
}

/** Tells what the loop of a new run starts from, as `readClaimAndMemory` would read it. */
export function newClaimAndMemory({
  files: _files,
  instructions = "",
  ...claim
}: RunClaim): ClaimAndMemory {
  return { claim: { ...claim, instructions }, memory: newRunMemory(claim.messages) };
}

/**
 * Reads the claim of a run, and the memory that its earlier incarnations left. Contract: call it
 * while the journal holds nothing that is not stored.
 * Fails: throws once the run has shrunk.
 */
export function readClaimAndMemory(run: OpenRun): ClaimAndMemory {
  const { store, transcript, invocations, prompt, log } = run;
  const claim = store.claimed();
  if (!claim) throw new Error("the run has shrunk");
  const messages = transcript.all();
  const context = prompt.read("request_context") as JsonObject | undefined;
  return {
    claim: {
      ...claim,
      instructions: (prompt.read("instructions") ?? "") as string,
      ...(context && { context }),
      messages: messages.slice(0, store.identity().claimedMessages),
    },
    memory: {
      transcript: messages,
      invocations: invocations.all(),
      facts: store.progress().facts,
      context: prompt.read("hook_context") as HookContext | undefined,
      progress: readProgress(log.readAll()),
    },
  };
}
