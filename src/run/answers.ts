import type { ResultAnswer, ResultShelf } from "../capabilities/results.ts";
import type {
  ApprovalAddress,
  ApprovalAnswer,
  BusyAnswer,
  CallAnswer,
  ContextAnswer,
  DecisionAnswer,
  FilesAnswer,
  ImageAnswer,
  NoRun,
  OutcomeAnswer,
  OutcomeReport,
  ReplayAnswer,
  ReviewReport,
  RunAnswer,
  RunErasure,
  RunMethods,
  SteerAnswer,
  Steering,
  UndoAnswer,
  UndoRequest,
} from "../capabilities/run.ts";
import type { ApprovalDecision } from "../protocol/approval/decision.ts";
import type { PageAnswer, ShownAnswer } from "../capabilities/conversation.ts";
import type { Clock } from "../capabilities/system.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import { isOfTenant, isOwn, maySee, mayStop, type Viewer } from "../protocol/identity/viewer.ts";
import type { HookContext } from "../protocol/assistant/context.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import type { Resolution } from "../protocol/invocation/record.ts";
import type { UndoReport } from "../protocol/invocation/undo.ts";
import type { JsonObject } from "../protocol/json/value.ts";
import { showContent } from "../protocol/tool/content.ts";
import type { StopReason } from "../protocol/run/facts.ts";
import { historyShown } from "../protocol/run/history-shown.ts";
import type { RunState } from "../protocol/run/state.ts";
import type { ApprovalDecisions } from "./approvals/decisions.ts";
import type { Run } from "./run.ts";
import { reviewMismatch } from "./verification/review-mismatch.ts";
import { resolveOutcome } from "./outcomes/resolve.ts";
import { answerWithFingerprint, type FingerprintOf } from "./outgoing-hashes.ts";
import { readKept } from "./read-result.ts";
import { busyWith } from "./busy-with.ts";
import { runStateOf } from "./state.ts";
import { shownRunOf } from "./shown-run.ts";
import { traceOf } from "./trace.ts";
import { pageOf } from "./turn-page.ts";
import { claimUndo, endUndo, resolveUndo, type UndoPorts } from "./undo/claim.ts";
import { checkApprovalAccess, checkRunAccess } from "./visibility.ts";
import { isWithdrawnBySteering } from "./wait-reasons.ts";

/** What an answer does with the loop of its run. */
interface LoopControl {
  /** Stops the run; resolves once it has ended. Contract: the first reason stays; idempotent. */
  stop(reason: StopReason): Promise<void>;
  /** Continues a run that waits. */
  resume(): void;
}

interface AnswerPorts {
  readonly lifecycle: LoopControl;
  readonly decisions: ApprovalDecisions;
  readonly clock: Clock;
  readonly results: Pick<ResultShelf, "read">;
  readonly fingerprintOf: FingerprintOf;
  readonly undo: UndoPorts;
  /** Deletes what was said in the run. False: something has to be delivered first. */
  readonly erase: () => Promise<boolean>;
  /** Decides the run again from what it stored. */
  readonly replay: (under: ToolPolicy | undefined) => Promise<ReplayAnswer>;
  /** The run that undid a call. */
  readonly undoRun: (runId: RunId) => Pick<RunMethods, "erase">;
}

/** Answers the typed RPC of a claimed run. Ownership: one per claimed run in memory. */
export class RunAnswers implements RunMethods {
  readonly #run: Run;
  readonly #ports: AnswerPorts;

  constructor(run: Run, ports: AnswerPorts) {
    this.#run = run;
    this.#ports = ports;
  }

  async state(viewer: Viewer): Promise<RunAnswer> {
    const missing = checkRunAccess(this.#run.store, maySee, viewer);
    if (missing) return missing;
    const steeredAt = this.#run.inbox.newestOfClient();
    const state = await this.#readState(viewer);
    return { kind: "run", state, ...(steeredAt && { steeredAt }) };
  }

  async cancel(viewer: Viewer): Promise<RunAnswer> {
    const { journal, notices, store } = this.#run;
    const { clock, lifecycle } = this.#ports;
    const missing = checkRunAccess(store, mayStop, viewer);
    if (missing) return missing;
    const isOpen = !journal.hasEnded && store.incarnations().stop === null;
    if (isOpen) notices.cancelled(viewer, clock.nowMs());
    await lifecycle.stop("cancelled");
    return this.state(viewer);
  }

  /**
   * Stores the message and its event. The platform sends the answer only after both are durable, so
   * a message that is `taken` is never lost.
   */
  async steer(viewer: Viewer, steering: Steering): Promise<SteerAnswer> {
    const { text, requestKey, messageId } = steering;
    const { inbox, journal, store } = this.#run;
    const missing = checkRunAccess(store, isOwn, viewer);
    if (missing) return missing;
    const known = requestKey === undefined ? undefined : inbox.findByKey(requestKey);
    if (known && known.text !== text) return { kind: "key_reused" };
    if (!known) {
      if (inbox.isClosed || store.incarnations().stop !== null) return { kind: "ended" };
      if (inbox.isFull) return { kind: "full" };
      const message = { text, ...(messageId !== undefined && { messageId }) };
      journal.append([{ type: "user_message", ...message }]);
      const at = journal.head;
      inbox.put({ ...message, at }, requestKey);
      if (isWithdrawnBySteering(this.#run)) this.#ports.lifecycle.resume();
      return { kind: "taken", state: await this.#readState(viewer), at };
    }
    return { kind: "taken", state: await this.#readState(viewer), at: known.at };
  }

  async resolveOutcome(viewer: Viewer, report: OutcomeReport): Promise<OutcomeAnswer> {
    const { invocations, store } = this.#run;
    const { clock, undo } = this.#ports;
    const missing = checkRunAccess(store, mayStop, viewer);
    if (missing) return missing;
    const { invocation, outcome, by } = report;
    if (!invocations.find(invocation)) return { kind: "unknown_invocation" };
    const resolution = { outcome, by, atMs: clock.nowMs() };
    const kind =
      resolveUndo(this.#run, undo, { invocation, resolution }) ??
      this.#resolve(invocation, resolution);
    return kind === "resolved" ? { kind, state: await this.#readState(viewer) } : { kind };
  }

  async call(viewer: Viewer, requestHash?: string): Promise<CallAnswer> {
    const { invocations, journal, store } = this.#run;
    const missing = checkRunAccess(store, maySee, viewer);
    if (missing?.kind === "unknown") return missing;
    if (store.identity().requestHash !== requestHash) return { kind: "other_request" };
    if (missing) return missing;
    if (!journal.hasEnded && !store.incarnations().isWaiting) return { kind: "running" };
    const { observation, content = [], details } = invocations.find(1)?.end ?? {};
    const shown = {
      ...(content.length > 0 && { content: showContent(content) }),
      ...(details && { details }),
    };
    const state = await this.#readState(viewer);
    return { kind: "call", state, ...(observation && { result: { observation, ...shown } }) };
  }

  async undo(viewer: Viewer, request: UndoRequest): Promise<UndoAnswer> {
    const missing = checkRunAccess(this.#run.store, mayStop, viewer);
    return missing ?? claimUndo(this.#run, this.#ports.undo, { viewer, request });
  }

  async undone(report: UndoReport): Promise<void> {
    if (this.#run.store.claimed()) endUndo(this.#run, this.#ports.undo, report);
  }

  async review(viewer: Viewer, { invocation, by }: ReviewReport): Promise<OutcomeAnswer> {
    const { invocations, store } = this.#run;
    const missing = checkRunAccess(store, mayStop, viewer);
    if (missing) return missing;
    if (!invocations.find(invocation)) return { kind: "unknown_invocation" };
    const atMs = this.#ports.clock.nowMs();
    const kind = reviewMismatch(this.#run, { invocation, by, atMs });
    return kind === "resolved" ? { kind, state: await this.#readState(viewer) } : { kind };
  }

  async context(viewer: Viewer): Promise<ContextAnswer> {
    const { prompt, store } = this.#run;
    const missing = checkRunAccess(store, isOfTenant, viewer);
    if (missing) return missing;
    const claim = store.claimed();
    const { assistant } = claim ?? {};
    const history = claim && historyShown(claim, store.progress().facts);
    const deployment = prompt.read("hook_context") as HookContext | undefined;
    const request = prompt.read("request_context") as JsonObject | undefined;
    return {
      kind: "context",
      ...(assistant && { assistant }),
      ...(deployment && { deployment }),
      ...(request && { request }),
      ...(history && { history }),
    };
  }

  async evidence(viewer: Viewer): ReturnType<RunMethods["evidence"]> {
    const { store } = this.#run;
    const claimed = store.claimed();
    const missing = checkRunAccess(store, isOfTenant, viewer);
    if (missing || !claimed) return missing ?? { kind: "gone" };
    return { kind: "trace", trace: await traceOf(this.#run, claimed, this.#ports.fingerprintOf) };
  }

  async replay(viewer: Viewer, under: ToolPolicy | undefined): Promise<ReplayAnswer> {
    return checkRunAccess(this.#run.store, isOfTenant, viewer) ?? this.#ports.replay(under);
  }

  async files(viewer: Viewer, hashes: readonly string[]): Promise<FilesAnswer> {
    const { files, store } = this.#run;
    // A conversation keeps its files longer than its first run.
    if (!maySee(store.identity().owner, viewer)) return { kind: "unknown" };
    const kept = hashes.flatMap((hash) => {
      const content = files.read(hash);
      return content === undefined ? [] : [[hash, content] as const];
    });
    return { kind: "files", files: Object.fromEntries(kept) };
  }

  async image(viewer: Viewer, invocation: number, number: number): Promise<ImageAnswer> {
    const { invocations, store } = this.#run;
    const missing = checkRunAccess(store, maySee, viewer);
    if (missing) return missing;
    const { content = [] } = invocations.find(invocation)?.end ?? {};
    const image = content.filter((part) => part.type === "image")[number - 1];
    return image ? { kind: "image", file: image.source } : { kind: "unknown_image" };
  }

  async result(viewer: Viewer, invocation: number): Promise<ResultAnswer | NoRun> {
    const { invocations, notices, store } = this.#run;
    const missing = checkRunAccess(store, maySee, viewer);
    if (missing) return missing;
    const record = invocations.find(invocation);
    const result = record && (await readKept(record, this.#ports.results));
    if (!record || !result || (result.kind === "raw" && !viewer.operates))
      return { kind: "unknown_result" };
    if (result.kind === "raw") notices.outputRead(record, viewer, this.#ports.clock.nowMs());
    return { kind: "result", result };
  }

  async approval(address: ApprovalAddress): Promise<ApprovalAnswer> {
    const { decisions, fingerprintOf } = this.#ports;
    const missing = checkApprovalAccess(this.#run.store, address);
    return missing ?? answerWithFingerprint(await decisions.reviewAndShow(address), fingerprintOf);
  }

  async decide(address: ApprovalAddress, decision: ApprovalDecision): Promise<DecisionAnswer> {
    const { decisions, fingerprintOf } = this.#ports;
    const missing = checkApprovalAccess(this.#run.store, address);
    if (missing) return missing;
    return answerWithFingerprint(await decisions.decide(address, decision), fingerprintOf);
  }

  async page(viewer: Viewer): Promise<PageAnswer> {
    const missing = checkRunAccess(this.#run.store, isOwn, viewer);
    return missing ?? pageOf(this.#run);
  }

  async busy(viewer: Viewer): Promise<BusyAnswer> {
    const { store } = this.#run;
    if (!isOwn(store.identity().owner, viewer)) return { kind: "unknown" };
    return { kind: "busy", why: store.claimed() ? busyWith(this.#run) : [] };
  }

  async erase(viewer: Viewer): Promise<RunErasure> {
    const { invocations, store } = this.#run;
    // An operator may have undone a call of the person.
    if (!isOfTenant(store.identity().owner, viewer)) return { kind: "unknown" };
    const undoRuns = invocations.all().flatMap(({ undo }) => (undo ? [undo.runId] : []));
    for (const runId of new Set(undoRuns)) {
      if (runId === store.identity().runId) continue;
      const answer = await this.#ports.undoRun(runId).erase(viewer);
      if (answer.kind === "pending") return answer;
    }
    return { kind: (await this.#ports.erase()) ? "erased" : "pending" };
  }

  async shown(viewer: Viewer): Promise<ShownAnswer> {
    const missing = checkRunAccess(this.#run.store, maySee, viewer);
    if (missing) return missing;
    const isCall = this.#run.store.call() !== undefined;
    return isCall
      ? { kind: "unknown" }
      : { kind: "shown", run: shownRunOf(this.#run), at: this.#run.journal.head };
  }

  /** Resolves an unknown outcome as an operator reported, and continues the run. */
  #resolve(invocation: number, resolution: Resolution): "resolved" | "not_awaited" {
    const kind = resolveOutcome(this.#run, invocation, resolution);
    if (kind === "resolved") this.#ports.lifecycle.resume();
    return kind;
  }

  #readState(viewer: Viewer): Promise<RunState> {
    const mayUndo = mayStop(this.#run.store.identity().owner, viewer);
    return runStateOf(this.#run, { mayUndo, fingerprintOf: this.#ports.fingerprintOf });
  }
}
