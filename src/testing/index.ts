/** The public surface of `interlock-edge/testing`; see docs/testing.md. */
export { runTool, type CallSurroundings, type ToolResult } from "./run-tool.ts";
export {
  testWorkspace,
  type OperationSurroundings,
  type TestWorkspace,
  type WorkspaceSettings,
} from "./test-workspace.ts";
export { startRun } from "./start-run.ts";
export type { ApprovingVote, TestRun, Vote } from "./test-run.ts";
export type { RunSettings, Surroundings } from "./run-settings.ts";
export type { EndedCall, OpenCall, TestCall } from "./test-call.ts";
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
} from "./scripted-model.ts";
export type {
  OfflineAnswer,
  OfflineCall,
  OfflineScenario,
  OfflineTurn,
} from "./offline-scenario.ts";
export { decidePolicy, type PolicyAnswer, type PolicyQuestion } from "./decide-policy.ts";
export { checkPolicy } from "./test-policy.ts";
export { person, type PersonRights } from "./person.ts";
export type { SampleRequest, SampleResponse } from "./exchange.ts";
export type { FakeService, SentRequest, Exchange } from "./fake-service.ts";
export type { TestConnections } from "./memory-connections.ts";
