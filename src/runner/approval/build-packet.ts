import type { Fingerprints } from "../../capabilities/fingerprints.ts";
import type { UsedNames } from "../../capabilities/used-names.ts";
import type { Log } from "../../capabilities/log.ts";
import type { ConfirmationPacket, ShownStates } from "../../protocol/approval/packet.ts";
import { diffShown, type ShownCall, type ShownChange } from "../../protocol/approval/shown.ts";
import type { Principal } from "../../protocol/identity/principal.ts";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import { withheldPaths } from "../../protocol/json/withheld-paths.ts";
import { madeAfter } from "../../protocol/label/source.ts";
import { listNewValues } from "../../protocol/approval/new-values.ts";
import { jurisdictionOf } from "../../protocol/policy/jurisdiction.ts";
import type { FlowPort } from "../flow/evidence.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";
import type { ValiditySubject } from "../gates/subjects.ts";
import { describeAction } from "./describe-action.ts";
import { describeCompensation, type UndoPorts } from "./describe-compensation.ts";
import { planSteps } from "./plan-steps.ts";

/** What building a packet takes of the run. */
export interface PacketPorts extends UndoPorts {
  readonly log: Log;
  readonly fingerprints: Fingerprints;
  readonly usedNames: UsedNames;
  readonly principal: Principal;
  readonly flow: FlowPort;
  readonly invocations: Pick<InvocationLedger, "find">;
}

/** A call, and how its target stands. */
export interface PreviewedSubject extends ValiditySubject {
  /** Asks for the preview at the first call, and answers the same states afterwards. */
  readonly states: () => Promise<ShownStates>;
}

/** What people would see of a call now. */
export interface PacketNow {
  readonly packet: ShownCall;
  /** How it differs from what they saw before. */
  readonly changes: readonly ShownChange[];
}

/**
 * Builds the packet of a call as it is now, and compares it with the packet that people saw.
 * Contract: never throws for what an author's `describe` or `preview` does. A value that nobody can
 * read any more is a difference.
 */
export async function readPacket(
  ports: PacketPorts,
  subject: PreviewedSubject,
  seen?: ConfirmationPacket,
): Promise<PacketNow> {
  const states = await subject.states();
  const packet = await buildPacket(ports, subject, { ...states, seen });
  if (!seen) return { packet, changes: [] };
  // A field that may drift must not ask again through the texts that name it.
  const onlyDrifts = seen.drifting && diffShown(seen, { ...seen, ...states }).length === 0;
  const compared = onlyDrifts ? await buildPacket(ports, subject, { ...seen, seen }) : packet;
  return { packet, changes: diffShown(seen, compared) };
}

/**
 * Tells after which text of others the call was made, and what is new in it. What was new when
 * people were asked stays new in the same arguments: a use in the meantime asks nobody again.
 */
async function originOf(
  { flow, usedNames, principal }: PacketPorts,
  { tool, accepted, authority }: ValiditySubject,
  seen: ConfirmationPacket | undefined,
): Promise<Pick<ShownCall, "after" | "newHere">> {
  const evidence = flow.evidenceOf(authority.context, tool);
  if (!evidence || evidence.after.length === 0) return {};
  const known = { words: evidence.words(), used: evidence.used() };
  const named = listNewValues(accepted.shown, known);
  const isSame = seen && toCanonicalJson(seen.arguments.shown) === toCanonicalJson(accepted.shown);
  const names = isSame ? [] : named.map(({ name }) => name);
  const used = await usedNames.known(principal, names);
  const newHere = named
    .filter(({ pointer, name }) => (isSame ? seen.newHere?.includes(pointer) : !used.has(name)))
    .map(({ pointer }) => pointer);
  return { ...madeAfter(evidence.after), ...(newHere.length > 0 && { newHere }) };
}

/**
 * Builds the packet that approvers see before they decide (seeds/004, "Confirmation Gates"). Where
 * the functions of an author fail, it has default texts and says that a state is not known.
 */
async function buildPacket(
  ports: PacketPorts,
  subject: ValiditySubject,
  {
    beforeState,
    afterState,
    seen,
  }: ShownStates & { readonly seen?: ConfirmationPacket | undefined },
): Promise<ShownCall> {
  const { tool, accepted, authority } = subject;
  const { args, shown } = accepted;
  const { context, scope } = authority;
  const { workspaceId } = context;
  const steps = await planSteps(ports, subject);
  const described = { args, shown, before: beforeState };
  const { title, consequence } = describeAction(ports.log, tool, described);
  const { title: toolTitle, destinations } = tool.spec;
  const jurisdiction = jurisdictionOf(ports.policy, destinations);
  const named = { tool: tool.id, ...(toolTitle !== undefined && { toolTitle }) };
  return {
    actionName: { title, ...named, version: tool.version },
    consequence,
    ...(await originOf(ports, subject, seen)),
    ...(workspaceId !== undefined && { workspaceId }),
    arguments: { shown, withheld: withheldPaths(args, shown) },
    ...(steps && { steps }),
    beforeState,
    afterState,
    ...(tool.drifting.length > 0 && { drifting: tool.drifting }),
    idempotencyFingerprint: await ports.fingerprints.of(context, scope.idempotencyKey),
    riskClass: tool.sideEffectClass,
    dataClass: tool.spec.dataClass,
    ...(jurisdiction && { jurisdiction }),
    owner: tool.owner,
    compensation: describeCompensation(ports, tool.compensation),
    rejectionPath:
      "The tool does not run. A model that asked for it is told, and may go on without it.",
    traceId: context.runId,
  };
}
