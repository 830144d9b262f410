/** `interlock-edge/gameplan`: GamePlan's tools and workspace. It loads in plain Node too. */
export { GAMEPLAN_TOOLS } from "../tools/gameplan/pack.ts";
export { gameplanWorkspace } from "../tools/gameplan/workspace.ts";
