import type { Log } from "../../capabilities/log.ts";
import type { Clock } from "../../capabilities/system.ts";
import type { ToolSourcePort } from "../../capabilities/tool.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";
import { answerWithin } from "../bind/answer-within.ts";

/** Time in which a source of tools must answer. Unit: milliseconds. */
const TIMEOUT_MS = 5_000;

/** Who asks a source of tools. */
export interface LoadPorts<Tools> {
  readonly source: ToolSourcePort<Tools>;
  readonly clock: Clock;
  readonly log: Pick<Log, "fault" | "write">;
}

/**
 * Asks a source for the tools of a tenant.
 * Contract: never throws, and never waits longer than five seconds. Undefined: the source failed or
 * did not answer in time; the caller then executes nothing.
 */
export async function loadTools<Tools>(
  { source, clock, log }: LoadPorts<Tools>,
  tenantId: TenantId,
): Promise<Tools | undefined> {
  try {
    const patience = { clock, timeoutMs: TIMEOUT_MS };
    const waited = await answerWithin(patience, () => source.load(tenantId));
    if (waited.kind === "answered") return waited.value;
    log.write({ level: "error", code: "tools_unavailable" });
  } catch (thrown) {
    log.fault("tools_unavailable", thrown);
  }
  return undefined;
}
