import type { NoRun } from "../../capabilities/run.ts";
import { problem } from "../request/problem.ts";

/** Refuses a request to a run that is unknown or expired. */
export function refuseRun({ kind }: NoRun): Response {
  return problem(kind === "gone" ? "run_expired" : "run_not_found");
}
