import type { AcceptedArguments } from "../gates/subjects.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import type { Reconciliation } from "../../protocol/outcome/reconciliation.ts";
import type { ActiveCall } from "../active-call.ts";
import { maskValues, type MaskValues } from "../../protocol/secrets/mask-values.ts";
import { digestText } from "../gates/read-arguments.ts";
import { askAboutCall, type AboutPorts } from "./ask-about-call.ts";

/** What the contract answered, and about which arguments. */
export interface Reconciled {
  readonly answer: Reconciliation<unknown>;
  readonly accepted: Pick<AcceptedArguments, "args" | "shown">;
  /** Redacted. */
  readonly shownArgs?: JsonObject;
  readonly argumentsDigest: string;
  /** Masks the secrets of the connection that the contract was given. */
  readonly mask: MaskValues;
}

/**
 * Asks the contract for the outcome of an operation that was dispatched.
 * Contract: never throws. Where the contract cannot be asked, or its function throws, the answer is
 * `unknown`.
 */
export async function reconcile(ports: AboutPorts, call: ActiveCall): Promise<Reconciled> {
  const unknown: Reconciled = {
    answer: { kind: "unknown" },
    accepted: { args: {}, shown: {} },
    argumentsDigest: await digestText(call.toolCall),
    mask: maskValues([]),
  };
  const contract = call.tool.reconcile;
  if (!contract) return unknown;
  try {
    const asked = await askAboutCall(ports, call, contract);
    if (!asked) return unknown;
    const { accepted, bound, mask } = asked;
    const { payloadHash: argumentsDigest } = accepted;
    const answer = readAnswer(asked.answer);
    return { answer, accepted, shownArgs: bound.shownArgs, argumentsDigest, mask };
  } catch (thrown) {
    ports.log.fault("tool_threw", thrown, { toolId: call.tool.id, toolVersion: call.tool.version });
    return unknown;
  }
}

/** An author who does not use TypeScript may answer anything. */
function readAnswer(answer: unknown): Reconciliation<unknown> {
  const { kind, output } = (answer ?? {}) as { readonly kind?: unknown; readonly output?: unknown };
  if (kind === "committed") return { kind, output };
  return kind === "not_committed" ? { kind } : { kind: "unknown" };
}
