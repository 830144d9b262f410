import { failCall } from "../../protocol/outcome/failures.ts";
import type { ApprovalDesk, ApprovalSigner, NewRequest } from "../../capabilities/approval.ts";
import type { ApprovalRecord, ApprovalVote } from "../../protocol/approval/record.ts";
import type { ConfirmationPacket } from "../../protocol/approval/packet.ts";
import { asksApproval, type ApprovalAsks } from "../../protocol/approval/question.ts";
import { checkVote } from "../../protocol/approval/check-vote.ts";
import { canNobodyApprove, isMet } from "../../protocol/approval/count-people.ts";
import { readNamedPeople } from "../../protocol/approval/named-people.ts";
import { diffTerms, hashTerms, type ApprovalTerms } from "../../protocol/approval/terms.ts";
import { diffShown, type ShownChange } from "../../protocol/approval/shown.ts";
import { approvalTokenOf } from "../../protocol/approval/token.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { personOf, type Principal } from "../../protocol/identity/principal.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { fail, type Result } from "../../protocol/outcome/result.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import { GateTrail } from "../gates/gate.ts";
import { readArguments } from "../gates/read-arguments.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import { CANCELLED } from "../outcome/tool-failure.ts";
import { WAITING } from "../waiting.ts";
import {
  readPacket,
  type PacketNow,
  type PacketPorts,
  type PreviewedSubject,
} from "./build-packet.ts";
import { consentingPerson } from "./consents.ts";
import { refuseMore, takePlace, type LimitPorts } from "./limit-requests.ts";
import { previewStates, type PreviewPorts } from "./preview-states.ts";
import { verifyApproval } from "./verify.ts";
import { wasEdited } from "./was-edited.ts";

/** What a request takes of the run. */
export interface RequestPorts extends PacketPorts, PreviewPorts, LimitPorts {
  readonly clock: PreviewPorts["clock"];
  readonly log: PreviewPorts["log"];
  readonly approvals: ApprovalDesk;
  readonly approvalSigner: ApprovalSigner;
  readonly invocations: Pick<InvocationLedger, "find">;
  readonly policy: ToolPolicy;
  readonly principal: Principal;
}

/** What is required, and under which policy. */
interface Required {
  readonly terms: ApprovalTerms;
  /** The policy that is current now. */
  readonly pin: PolicyPin;
  /** That policy, and the one that the run pinned. */
  readonly policies: readonly ToolPolicy[];
  /** What people would see, where it was read already. */
  readonly now: PacketNow | undefined;
  /** The consent that answers for the person who has to consent. */
  readonly consentId: string | undefined;
  /** Absent: votes alone are asked for. */
  readonly asked?: AskedPerson;
}

/** What people are asked besides their votes for the call, or in their place. */
export interface AskedPerson {
  readonly asks: ApprovalAsks;
  /** What the packet shows of it. */
  readonly shown: Pick<ConfirmationPacket, "question" | "raise">;
}

/**
 * Requests approval for a call, and answers `waiting`. An approver's edit carries that approver's
 * own vote over, and a consent that lasts votes for its person, so the request may be approved at
 * once.
 * Contract: a payload that people rejected in this run is not requested again.
 * Fails: `waiting`; PERMISSION_DENIED; STALE_STATE where what people see keeps changing;
 * BUDGET_EXHAUSTED where too many approvals of the run, the person or the tenant are open, or the
 * run has requested too many; DEPENDENCY_UNAVAILABLE; UNKNOWN_ERROR for a run that is stopped
 * meanwhile; what `verifyApproval` fails with.
 */
export async function requestApproval(
  ports: RequestPorts,
  subject: PreviewedSubject,
  required: Required,
): Promise<Result<ApprovalRecord, ToolFailure | typeof WAITING>> {
  const { approvals, invocations } = ports;
  const { tool, accepted, authority, signal } = subject;
  const { payloadHash } = accepted;
  const record = invocations.find(authority.context);
  if (!record) throw new Error("an approval is requested for no admitted invocation");
  const { number } = record;
  if (approvals.wasRejected({ toolId: tool.id, payloadHash })) return REJECTED_BEFORE;
  const refuse = async (): Promise<ReturnType<typeof refuseMore>> =>
    refuseMore(ports, record) ?? (await takePlace(ports, number, required.policies));
  const refused = required.consentId === undefined ? await refuse() : undefined;
  if (refused) return refused;
  const request = await buildRequest(ports, subject, { ...required, number });
  if (canNobodyApprove(request)) return NOBODY_MAY;
  if ((request.timesChanged ?? 0) > MAX_TIMES_CHANGED) return endChanging(ports, tool);
  const { runId } = authority.context;
  const vote =
    (await carryVote(ports, runId, request)) ??
    (await voteByConsent(ports, request, { runId, consentId: required.consentId }));
  const asksNobody = vote?.consentId !== undefined && isMet({ ...request, votes: [] }, [vote]);
  const refusedLate = required.consentId === undefined || asksNobody ? undefined : await refuse();
  if (refusedLate) return refusedLate;
  if (signal.aborted) return CANCELLED;
  if (wasEdited(ports, record, payloadHash)) return fail(WAITING);
  // Again: parallel calls may have asked meanwhile. The place of a refused call lapses.
  const refusedNow = asksNobody ? undefined : refuseMore(ports, record);
  if (refusedNow) return refusedNow;
  const asked = approvals.ask({ ...request, ...(vote && { vote }) });
  return asked.status === "approved" ? verifyApproval(ports, subject, asked) : fail(WAITING);
}

/** A request before any vote. */
type UnvotedRequest = Omit<NewRequest, "vote"> & { readonly termsHash: string };

/** Builds a request. One that replaces another request tells what changed since. */
async function buildRequest(
  ports: RequestPorts,
  subject: PreviewedSubject,
  { terms, pin, now, number, asked: person }: Required & { readonly number: number },
): Promise<UnvotedRequest> {
  const { approvals, clock, principal } = ports;
  const { tool, accepted, authority } = subject;
  const { toolCallId, part } = authority.context;
  const { payloadHash } = accepted;
  const newest = approvals.newest(number);
  // A person who only answered a question, or raised a limit, agreed to no terms and to no call.
  const isComparable = asksApproval(newest?.asks) && asksApproval(person?.asks);
  const before = isComparable ? newest : undefined;
  const changedTerms = before ? diffTerms(before, terms) : [];
  const isEdited =
    newest?.isEdited === true || (!newest?.asks && newest?.edit?.payloadHash === payloadHash);
  const askedAtMs = clock.nowMs();
  const expiresAtMs =
    askedAtMs + Math.min(...terms.requirements.map(({ ttlSeconds }) => ttlSeconds)) * 1_000;
  const asked = now ?? (await readAsked(ports, subject, before));
  const call = { args: accepted.args, states: asked.packet };
  const named = readNamedPeople(terms.requirements, call);
  const packet = { ...asked.packet, ...person?.shown, expiresAt: toIso(expiresAtMs) };
  const { changes: changedShown } = asked;
  const isByEdit = before?.edit?.payloadHash === payloadHash;
  const changedByEdit = isByEdit ? listEdited(before.packet, packet, changedShown) : [];
  const timesChanged = (before?.timesChanged ?? 0) + (changedShown.length > 0 ? 1 : 0);
  return {
    invocation: number,
    toolCallId,
    part,
    toolId: tool.id,
    ...terms,
    ...(named && { named }),
    termsHash: await hashTerms(terms, packet),
    ...(changedTerms.length > 0 && { changedTerms }),
    ...(changedShown.length > 0 && { changedShown }),
    ...(changedByEdit.length > 0 && { changedByEdit }),
    ...(timesChanged > 0 && { timesChanged }),
    payloadHash,
    ...(person && { asks: person.asks }),
    pin,
    requester: personOf(principal),
    actorId: principal.actorId,
    ...(principal.embed?.minterId && { minterId: principal.embed.minterId }),
    packet,
    askedAtMs,
    expiresAtMs,
    ...(isEdited && { isEdited }),
  };
}

/** Lists what an edit changed. A value that changed by itself is no change of the edit. */
function listEdited(
  seen: ConfirmationPacket,
  now: ConfirmationPacket,
  others: readonly ShownChange[],
): readonly ShownChange[] {
  const pointers = new Set(others.map(({ pointer }) => pointer));
  return diffShown(seen, now).filter(({ pointer }) => !pointers.has(pointer));
}

/**
 * Reads what people will see, and what changed since they were asked before. An edit changes the
 * packet itself, so what the editor saw is read again with the arguments that the edit replaced.
 */
async function readAsked(
  ports: RequestPorts,
  subject: PreviewedSubject,
  before: ApprovalRecord | undefined,
): Promise<PacketNow> {
  const { tool, accepted } = subject;
  if (before?.edit?.payloadHash !== accepted.payloadHash) {
    return readPacket(ports, subject, before?.packet);
  }
  const { packet } = await readPacket(ports, subject);
  const call = { argumentsText: before.edit.replacedText, truncated: false };
  const replaced = await readArguments(tool, call, new GateTrail());
  if (!replaced.ok) return { packet, changes: diffShown(before.packet, packet) };
  const edited = { ...subject, accepted: replaced.value };
  const states = await previewStates(ports, edited);
  const seen = { ...edited, states: () => Promise.resolve(states) };
  const { changes } = await readPacket(ports, seen, before.packet);
  return { packet, changes };
}

/** How often people are asked about one call because what they see has changed. */
const MAX_TIMES_CHANGED = 3;

/** Ends a call whose state never stands still; the log tells its author. */
function endChanging(
  { log }: RequestPorts,
  { id: toolId, version: toolVersion }: PreviewedSubject["tool"],
): typeof KEEPS_CHANGING {
  log.write({ level: "warn", code: "keeps_changing", toolId, toolVersion });
  return KEEPS_CHANGING;
}

const KEEPS_CHANGING = failCall("keeps_changing");
const NOBODY_MAY = failCall("nobody_may_approve");
const REJECTED_BEFORE = failCall("approval_rejected");

/**
 * An edit drops all earlier votes. Only the vote of the editor is carried over, or of the person
 * whose answer is a vote too. It counts only while the terms and all that this person saw still
 * hold, and the person may approve the new arguments.
 */
async function carryVote(
  { approvals, approvalSigner, principal }: RequestPorts,
  runId: PreviewedSubject["authority"]["context"]["runId"],
  request: UnvotedRequest,
): Promise<ApprovalVote | undefined> {
  const { edit, asks } = approvals.newest(request.invocation) ?? {};
  if (!asksApproval(asks) || !asksApproval(request.asks)) return undefined;
  const isTheirs = edit?.payloadHash === request.payloadHash;
  if (!edit || !isTheirs || request.changedTerms || request.changedShown) return undefined;
  const { approverId: actorId, roles } = edit.vote;
  if (checkVote({ ...request, votes: [] }, { actorId, roles }, edit.vote)) return undefined;
  const id = approvals.nextId(request.invocation);
  const { tenantId } = principal;
  const token = approvalTokenOf({ ...request, id }, edit.vote, { runId, tenantId });
  return { ...edit.vote, token: await approvalSigner.sign(token) };
}

/**
 * Lets an earlier consent vote for its person. Arguments of an edit ask the person again, and so
 * does a rule that the person cannot fill now.
 */
async function voteByConsent(
  { approvals, approvalSigner, clock, principal }: RequestPorts,
  request: UnvotedRequest,
  { runId, consentId }: Pick<Required, "consentId"> & { readonly runId: RunId },
): Promise<ApprovalVote | undefined> {
  if (consentId === undefined || request.isEdited) return undefined;
  const who = consentingPerson(principal);
  const given = { approverId: who.actorId, roles: who.roles, atMs: clock.nowMs() };
  const vote = { ...given, decision: "approve", consentId } as const;
  if (checkVote({ ...request, votes: [] }, who, vote)) return undefined;
  const id = approvals.nextId(request.invocation);
  const { tenantId } = principal;
  const token = approvalTokenOf({ ...request, id }, vote, { runId, tenantId });
  return { ...vote, token: await approvalSigner.sign(token) };
}
