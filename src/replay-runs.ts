import type { ReplayParts, RunReplay } from "./compose/deployment.ts";
import { REPLAY_ROUTES } from "./http/runs/replay.ts";
import { replayRun } from "./loop/replay/run.ts";

const parts: ReplayParts = { run: replayRun, routes: REPLAY_ROUTES };

/**
 * Lets those who may read the audit log decide a finished run again: the option `replay` of a
 * deployment. A deployment without it carries neither the route nor the replaying loop.
 */
export const replayRuns: RunReplay = { parts };
