import type { ApprovalAddress, NoRun } from "../../src/capabilities/run.ts";
import { maySee, type Viewer, viewerOf } from "../../src/protocol/identity/viewer.ts";
import type { RunStore } from "./run-store.ts";

type Claimed = Pick<RunStore, "identity" | "claimed">;

/** Answers why a caller gets nothing about a claimed run; undefined when the caller may have it. */
export function whyNoRun(store: Claimed, may: typeof maySee, viewer: Viewer): NoRun | undefined {
  if (!may(store.identity().owner, viewer)) return { kind: "unknown" };
  return store.claimed() ? undefined : { kind: "gone" };
}

/**
 * Answers why a caller gets nothing about an approval. People may approve calls of a run that they
 * may not see: each approval says who may see it. A page of another origin sees only approvals of
 * its own runs.
 */
export function whyNoApproval(
  store: Claimed,
  { principal }: Pick<ApprovalAddress, "principal">,
): NoRun | undefined {
  const viewer = viewerOf(principal);
  const isKept = store.claimed() !== undefined;
  return isKept && viewer.origin === undefined ? undefined : whyNoRun(store, maySee, viewer);
}
