import type { Log } from "../../capabilities/log.ts";
import type { BoundToolRuntime } from "../../capabilities/tool.ts";
import type { PlannedCompensation } from "../../protocol/invocation/record.ts";
import { parseArguments } from "../../protocol/tool/call.ts";
import type { AttemptResult } from "../attempt.ts";
import { GateTrail } from "../gates/gate.ts";
import { findTool, type LookupPorts } from "../gates/lookup-tool.ts";
import { readArguments } from "../gates/read-arguments.ts";
import { writeArguments } from "../author-code/write-arguments.ts";

/** What planning takes of the run. */
export interface PlanPorts extends LookupPorts {
  readonly log: Log;
}

/** How a completed call would be undone. */
interface Undo {
  /** Absent when the call cannot be undone. */
  readonly compensation?: PlannedCompensation;
  readonly warnings: readonly string[];
}

/** Nothing happened, or the contract names no tool that undoes the call. */
export const NOT_UNDOABLE: Undo = { warnings: [] };

const LOST: Undo = { warnings: ["this happened, but it cannot be undone automatically"] };

/**
 * Makes the call that undoes a completed one. Its arguments pass the same gates now as they will
 * pass when the call is made.
 * Contract: never throws. A call whose undoing cannot be made has happened all the same: the
 * outcome says so, and the log gets a line.
 */
export async function planCompensation(
  ports: PlanPorts,
  tool: BoundToolRuntime,
  { args, outcome }: AttemptResult,
): Promise<Undo> {
  const { compensate, compensation } = tool;
  if (!compensate || compensation.tool === null) return NOT_UNDOABLE;
  const about = { toolId: tool.id, toolVersion: tool.version };
  const lose = (reason: string): Undo => {
    ports.log.write({ level: "warn", code: "compensation_lost", reason, ...about });
    return LOST;
  };
  const compensator = findTool(ports, compensation.tool);
  if (!compensator) return lose("unavailable");
  if (!args || !outcome.ok) return lose("output_unknown");
  try {
    const argumentsText = writeArguments(compensate(args, outcome.value.raw));
    if (argumentsText === undefined) return lose("not_an_object");
    const call = { argumentsText, truncated: false };
    const read = await readArguments(compensator, call, new GateTrail());
    const plain = parseArguments(call);
    if (!read.ok || !plain.ok) return lose("arguments_do_not_fit");
    const { id: toolId, version } = compensator;
    return { compensation: { toolId, version, args: plain.value }, warnings: [] };
  } catch (thrown) {
    ports.log.fault("compensation_lost", thrown, about);
    return LOST;
  }
}
