import { hashOf, toCanonicalJson } from "../json/canonical-hash.ts";
import type { JsonObject, JsonValue } from "../json/value.ts";
import type { ConfirmationPacket } from "./packet.ts";
import type { ApprovalRequirement } from "./requirement.ts";
import { boundPart } from "./shown.ts";

/** What bounds a call besides its approvers. */
export type CallBounds = {
  /** Null when the call uses no connection. */
  readonly connectionId: string | null;
  /** Limits of the run, of the budgets that the tool uses. */
  readonly runLimits: JsonObject;
  /** Limits of the tenant, of the budgets that the tool uses, and their window. */
  readonly tenantLimits: JsonObject;
  /** The tenant's rate limit of the tool. */
  readonly rateLimit: JsonObject | null;
  /** The rules that the caller has to meet, as JSON. */
  readonly callers: readonly string[];
  /** The limits of where its data may go, as JSON. */
  readonly data: readonly string[];
  /** Why the data-flow rules ask: `after_untrusted`, and fields of the arguments. */
  readonly dataFlow: readonly string[];
  /** The caps of its cost, as JSON. */
  readonly costCaps: readonly string[];
};

/**
 * The terms to which an approval is bound: what the policies came to for its call. An approval is
 * bound to the hash of its arguments and to what its packet shows as well.
 */
export interface ApprovalTerms {
  readonly toolVersion: string;
  /** Who must approve; never empty. */
  readonly requirements: readonly ApprovalRequirement[];
  readonly bounds: CallBounds;
}

/** A term that differs from the terms of the approval before. */
export interface TermChange {
  readonly term: string;
  readonly before: JsonValue;
  readonly after: JsonValue;
}

/** Hashes terms, and what people see of the call. Shape: `sha256:…` over canonical JSON. */
export function hashTerms(terms: ApprovalTerms, packet: ConfirmationPacket): Promise<string> {
  return hashOf({ ...flatten(terms), shown: boundPart(packet) });
}

/**
 * Lists the terms that differ. A term of the second requirement and of later ones has its number
 * before its name: `2/roles`.
 * Contract: pure.
 */
export function diffTerms(before: ApprovalTerms, after: ApprovalTerms): readonly TermChange[] {
  const [earlier, later] = [flatten(before), flatten(after)];
  return Object.keys({ ...earlier, ...later })
    .map((term) => ({ term, before: earlier[term] ?? null, after: later[term] ?? null }))
    .filter((change) => toCanonicalJson(change.before) !== toCanonicalJson(change.after));
}

function flatten({ toolVersion, requirements, bounds }: ApprovalTerms): JsonObject {
  const rules = requirements.flatMap((requirement, at) =>
    Object.entries(requirement).map(([term, value]: [string, JsonValue]) => [
      at === 0 ? term : `${at + 1}/${term}`,
      value,
    ]),
  );
  return { toolVersion, ...Object.fromEntries(rules), ...bounds };
}
