import { isJsonObject, type JsonObject } from "../../protocol/json/value.ts";
import type { PlannedVerification } from "../../protocol/outcome/verification.ts";
import { askAboutCall, type AboutPorts, type BoundCall } from "../recovery/ask-about-call.ts";
import { readState } from "../author-code/read-state.ts";
import { showVerifiedState } from "./expect-state.ts";

/** What reading the state after a call came to. `found` is redacted. */
export type Verified =
  | { readonly kind: "verified" }
  | { readonly kind: "mismatch"; readonly found?: JsonObject }
  | { readonly kind: "unknown" };

/** Time that one read may take. */
const MAX_VERIFY_MS = 5_000;
const UNKNOWN = { kind: "unknown" } as const;

/**
 * Asks the contract whether the state after a completed write is the expected one (seeds/004,
 * "Post-Action Verification").
 * Contract: never throws; changes nothing. A contract that throws, answers something else, or does
 * not answer in time is `unknown`.
 */
export async function verifyCall(
  ports: AboutPorts,
  call: BoundCall,
  { expected }: PlannedVerification,
): Promise<Verified> {
  const { verify, id: toolId, version: toolVersion } = call.tool;
  if (!verify || !expected) return UNKNOWN;
  const tool = { ...call.tool, timeoutMs: Math.min(MAX_VERIFY_MS, call.tool.timeoutMs) };
  try {
    const asked = await askAboutCall(ports, { ...call, tool }, (args, context, scope) =>
      verify(args, expected, context, scope),
    );
    if (!asked) return UNKNOWN;
    // An author who does not use TypeScript may answer anything.
    const { kind, found } = (asked.answer ?? {}) as Readonly<Record<string, unknown>>;
    if (kind === "verified") return { kind };
    if (kind !== "mismatch") return UNKNOWN;
    const state = isJsonObject(found) ? readState(found) : null;
    const shown = state && showVerifiedState({ ...asked, tool }, state);
    return { kind, ...(shown && { found: shown }) };
  } catch (thrown) {
    ports.log.fault("tool_threw", thrown, { toolId, toolVersion });
    return UNKNOWN;
  }
}
