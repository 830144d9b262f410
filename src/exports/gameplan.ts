/** `interlock-edge/gameplan`: the tools and the workspace of GamePlan. It loads in plain Node too. */
export { GAMEPLAN_TOOLS } from "../tools/gameplan/pack.ts";
export { gameplanWorkspace } from "../tools/gameplan/workspace.ts";
