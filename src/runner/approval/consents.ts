import type { UsedNames } from "../../capabilities/used-names.ts";
import { offerOf } from "../../protocol/approval/consent-offer.ts";
import type { ApprovalRecord } from "../../protocol/approval/record.ts";
import type { ApprovalTerms } from "../../protocol/approval/terms.ts";
import {
  consentIdOf,
  type ConsentClaim,
  type ConsentGrant,
} from "../../protocol/consent/consent.ts";
import type { LastingChoice } from "../../protocol/consent/lasting.ts";
import { personOf, type Principal } from "../../protocol/identity/principal.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { toCanonicalJson } from "../../protocol/json/canonical-hash.ts";
import type { JsonObject, JsonValue } from "../../protocol/json/value.ts";
import { valuesAt } from "../../protocol/json/pointer.ts";
import type { Caller } from "../../protocol/policy/callers.ts";
import { sorted } from "../../protocol/text/sorted.ts";
import type { ReservedConsent } from "../budget/reserve.ts";
import type { ValiditySubject } from "../gates/subjects.ts";

/** What a consent of a call depends on, in the run. */
export interface ConsentPorts {
  readonly usedNames: Pick<UsedNames, "hash">;
  readonly principal: Principal;
  readonly caller: Pick<Caller, "assistantId">;
  readonly workflowId: RunId;
}

type ConsentCall = Pick<ValiditySubject, "tool" | "accepted" | "authority">;

/**
 * Tells which consents may answer a call under its terms; undefined where none may.
 */
export async function claimConsent(
  ports: ConsentPorts,
  call: ConsentCall,
  { requirements, bounds }: Pick<ApprovalTerms, "requirements" | "bounds">,
): Promise<ConsentClaim | undefined> {
  const offer = offerOf(requirements, bounds);
  if (!offer) return undefined;
  const { sameFields, ...reach } = offer;
  const ways = sameFields ? [undefined, sameFields] : [undefined];
  return {
    ...reach,
    prints: await Promise.all(ways.map((fields) => printOf(ports, call, fields))),
    conversationId: ports.workflowId,
  };
}

/**
 * Reads what the reservation of an approved call does with consents: it uses the one that voted,
 * and stores the one that the person gave with their vote.
 */
export async function consentOfApproval(
  ports: ConsentPorts,
  call: ConsentCall,
  approval: ApprovalRecord | null,
): Promise<ReservedConsent> {
  const carried = approval?.votes.find(({ consentId }) => consentId !== undefined);
  const given = approval?.votes.find(({ lasting }) => lasting !== undefined);
  const claim = approval && carried && (await claimConsent(ports, call, approval));
  const grant =
    approval &&
    given?.lasting &&
    (await grantOf(ports, call, { ...approval, choice: given.lasting }));
  return {
    ...(carried?.consentId !== undefined && {
      consent: { ...(claim ?? nothingCovered(ports)), id: carried.consentId },
    }),
    ...(grant && { grant }),
  };
}

/** The terms offer nothing any more, so the reservation finds no consent. */
function nothingCovered({ workflowId: conversationId }: ConsentPorts): ConsentClaim {
  return { prints: [], conversationId, within: "conversation", maxCalls: 0, maxSeconds: 0 };
}

async function grantOf(
  ports: ConsentPorts,
  call: ConsentCall,
  {
    id: approvalId,
    requester,
    choice,
  }: Pick<ApprovalRecord, "id" | "requester"> & { readonly choice: LastingChoice },
): Promise<ConsentGrant> {
  const { assistantId } = ports.caller;
  return {
    ...choice,
    id: consentIdOf(approvalId),
    approvalId,
    person: requester,
    print: await printOf(ports, call, choice.sameFields),
    conversationId: ports.workflowId,
    toolId: call.tool.id,
    toolVersion: call.tool.version,
    ...(assistantId !== undefined && { assistantId }),
  };
}

/**
 * Hashes everything to which a consent is bound, under a key of its tenant and its person: the
 * actor, the tool's version, the assistant, where the call acts, and the arguments that must be the
 * same. Without fields that is all of them.
 */
async function printOf(
  { usedNames, principal, caller }: ConsentPorts,
  { tool, accepted, authority }: ConsentCall,
  sameFields: readonly string[] | undefined,
): Promise<string> {
  const { connectionId, workspaceId } = authority.context;
  const same = sameFields && sorted(new Set(sameFields));
  const bound = {
    consent: principal.actorId,
    tool: [tool.id, tool.version],
    assistant: caller.assistantId ?? null,
    connection: connectionId ?? null,
    workspace: workspaceId ?? null,
    same: same?.map((field) => valuesOf(accepted.args, field)) ?? accepted.payloadHash,
  };
  const [print = ""] = await usedNames.hash(principal, [toCanonicalJson(bound)]);
  return print;
}

function valuesOf(args: JsonObject, field: string): JsonValue {
  const values = [...valuesAt(args, field)];
  return [field, values.map(({ pointer, value }) => [pointer, value])];
}

/** Who a consent votes for, with the roles of this run. Those of a delegate are the delegate's. */
export function consentingPerson({
  actorId,
  subjectId,
  roles,
}: Pick<Principal, "actorId" | "subjectId" | "roles">): {
  readonly actorId: Principal["actorId"];
  readonly roles: readonly string[];
} {
  const person = personOf({ actorId, subjectId });
  return { actorId: person, roles: person === actorId ? roles : [] };
}
