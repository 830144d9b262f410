import type { ApprovalAddress, NoRun } from "../capabilities/run.ts";
import { maySee, type Viewer, viewerOf } from "../protocol/identity/viewer.ts";
import type { StoredFacts } from "./stored-run.ts";

type Claimed = Pick<StoredFacts, "identity" | "claimed">;

/** Checks whether a caller may read or change a claimed run; undefined means yes. */
export function checkRunAccess(
  store: Claimed,
  may: typeof maySee,
  viewer: Viewer,
): NoRun | undefined {
  if (!may(store.identity().owner, viewer)) return { kind: "unknown" };
  return store.claimed() ? undefined : { kind: "gone" };
}

/**
 * Checks whether a caller may look for an approval of a run; undefined means yes. People may
 * approve calls of a run that they may not see, because each approval says who may see it. A page
 * of another origin sees only approvals of its own runs.
 */
export function checkApprovalAccess(
  store: Claimed,
  { principal }: Pick<ApprovalAddress, "principal">,
): NoRun | undefined {
  const viewer = viewerOf(principal);
  const isKept = store.claimed() !== undefined;
  return isKept && viewer.origin === undefined ? undefined : checkRunAccess(store, maySee, viewer);
}
