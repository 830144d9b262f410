import { NO_FACTS } from "../../protocol/run/facts.ts";
import type { RunEvidence } from "./evidence.ts";

/**
 * Cuts the evidence of a run behind the last step after which it went on. Where a fault or an
 * interruption ended the run, no record holds what decided its end, and everything before is
 * evidence as of any run.
 * Contract: pure; undefined where no step was finished.
 */
export function cutEvidence(evidence: RunEvidence): RunEvidence | undefined {
  const { facts, invocations, log } = evidence;
  const at = log.findLastIndex((event) => event.type === "step_finished" && event.continued);
  const last = log[at];
  if (last?.type !== "step_finished") return undefined;
  const kept = log.slice(0, at + 1);
  const { because: _because, ...others } = facts;
  const modelCalls = kept.filter(({ type }) => type === "step_started").length;
  return {
    ...evidence,
    log: kept,
    invocations: invocations.filter(({ step }) => step <= last.step),
    facts: { ...others, answer: NO_FACTS.answer, modelCalls },
    untilStep: last.step,
  };
}
