import type { ApprovalId, RunId } from "../identity/ids.ts";

/** Which question an approval id names. */
export interface ApprovalName {
  /** Not verified: whether it is the tenant's is for RunIds to say. */
  readonly runId: string;
  readonly invocation: number;
  readonly generation: number;
}

const FORM = /^appr_([0-9a-f]{32}_[0-9a-f]{32})_([1-9]\d{0,8})_([1-9]\d{0,3})$/;

/** Names a question after its run, so that its id carries the run's MAC. */
export function approvalIdOf(runId: RunId, invocation: number, generation: number): ApprovalId {
  return `appr_${runId.replace(/^run_/, "")}_${invocation}_${generation}` as ApprovalId;
}

/** Reads an approval id; undefined for what is none. Contract: pure. */
export function readApprovalId(text: string): ApprovalName | undefined {
  const [, run, invocation, generation] = FORM.exec(text) ?? [];
  if (run === undefined) return undefined;
  return { runId: `run_${run}`, invocation: Number(invocation), generation: Number(generation) };
}
