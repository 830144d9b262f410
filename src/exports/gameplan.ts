/** `interlock-edge/gameplan`: GamePlan in a deployment. It loads in plain Node too. */
export { gameplanContext } from "../tools/gameplan/context.ts";
export { GAMEPLAN_TOOLS } from "../tools/gameplan/pack.ts";
export { gameplanWorkspace } from "../tools/gameplan/workspace.ts";
