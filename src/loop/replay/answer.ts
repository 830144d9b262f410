import type { ReplayAnswer } from "../../capabilities/run.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { dryRun } from "./dry-run.ts";
import type { RunEvidence } from "./evidence.ts";
import type { DecidingPorts } from "./ports.ts";
import { replayRun } from "./run.ts";

/** Decides a run again, or its calls under another policy. Contract: no effects. */
export async function answerReplay(
  evidence: RunEvidence,
  deciding: DecidingPorts,
  under: ToolPolicy | undefined,
): Promise<ReplayAnswer> {
  if (under) return { kind: "dry_run", result: await dryRun(evidence, deciding, under) };
  const replayed = await replayRun(evidence, deciding);
  return replayed.ok
    ? { kind: "replayed", result: replayed.value }
    : { kind: "not_replayable", reason: replayed.failure.reason };
}
