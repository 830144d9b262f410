import type { ReplayParts, RunReplay } from "./compose/deployment.ts";
import { REPLAY_ROUTES } from "./http/runs/replay.ts";
import { DRY_RUN_ROUTES } from "./http/tenant/policy-dry-run.ts";
import { answerReplay } from "./loop/replay/answer.ts";

const parts: ReplayParts = {
  answer: answerReplay,
  routes: { ...REPLAY_ROUTES, ...DRY_RUN_ROUTES },
};

/**
 * Lets those who may read the audit log decide a finished run again, and those who write the policy
 * try another one on past calls: the option `replay` of a deployment. A deployment without it
 * carries neither the routes nor the replaying loop.
 */
export const replayRuns: RunReplay = { parts };
