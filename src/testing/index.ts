/** The public surface of `interlock-edge/testing`; see docs/testing.md. */
export { runTool, type CallSurroundings, type ToolResult } from "./tool/run-tool.ts";
export {
  testWorkspace,
  type OperationSurroundings,
  type TestWorkspace,
  type WorkspaceSettings,
} from "./workspace/test-workspace.ts";
export { startRun } from "./run/start-run.ts";
export type { Answer, ApprovingVote, TestRun, Vote } from "./run/test-run.ts";
export type { RunSettings, Surroundings } from "./run/run-settings.ts";
export type { EndedCall, OpenCall, TestCall } from "./tool/test-call.ts";
export {
  call,
  failModel,
  say,
  scriptedModel,
  type CallSettings,
  type ScriptAnswer,
  type ScriptedModel,
  type ScriptPart,
  type ScriptView,
} from "./run/scripted-model.ts";
export type {
  OfflineAnswer,
  OfflineCall,
  OfflineScenario,
  OfflineTurn,
} from "./run/offline-scenario.ts";
export { decidePolicy, type PolicyAnswer, type PolicyQuestion } from "./policy/decide-policy.ts";
export { checkPolicy } from "./policy/test-policy.ts";
export { person, type PersonRights } from "./run/person.ts";
export type { SampleRequest, SampleResponse } from "./tool/exchange.ts";
export type { FakeService, SentRequest, Exchange } from "./tool/fake-service.ts";
export type { TestConnections } from "./memory/memory-connections.ts";
