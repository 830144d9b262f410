import type { ApprovalId, RunId } from "../identity/ids.ts";

/** The parts of an approval id. */
export interface ApprovalName {
  /** Not verified. RunIds tells whether the id belongs to the tenant. */
  readonly runId: string;
  readonly invocation: number;
  readonly generation: number;
}

const FORM = /^appr_([0-9a-f]{32}_[0-9a-f]{32})_([1-9]\d{0,8})_([1-9]\d{0,3})$/;

/** Makes an approval id from its run's id, so that it carries the run's MAC. */
export function approvalIdOf(runId: RunId, invocation: number, generation: number): ApprovalId {
  return `appr_${runId.replace(/^run_/, "")}_${invocation}_${generation}` as ApprovalId;
}

/** Reads an approval id; undefined when the text is not one. Contract: pure. */
export function readApprovalId(text: string): ApprovalName | undefined {
  const [, run, invocation, generation] = FORM.exec(text) ?? [];
  if (run === undefined) return undefined;
  return { runId: `run_${run}`, invocation: Number(invocation), generation: Number(generation) };
}
