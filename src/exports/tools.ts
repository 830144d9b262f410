/** `interlock-edge/tools`: what a tool's file uses. It loads in plain Node too. */
export { defineTool } from "../contracts/define/define-tool.ts";
export { defineOperation, defineWorkspace } from "../contracts/define/define-workspace.ts";
export { defineSaga } from "../contracts/define/define-saga.ts";
export { expectAnswer } from "../contracts/define/expect-answer.ts";
export { fail, ok } from "../protocol/outcome/result.ts";
export { askPerson } from "../core-tools/ask-person.ts";
export { CORE_TOOLS } from "../core-tools/pack.ts";
export { readResult } from "../core-tools/read-result.ts";
export type { AskedQuestion, AskSection } from "../contracts/define/ask-section.ts";
export type { SagaDefinition, SagaStep } from "../contracts/define/define-saga.ts";
export type {
  AnyToolContract,
  ClosedObjectSchema,
  ToolContract,
  ToolDefinition,
} from "../contracts/define/definition.ts";
export type { Source, Sources } from "../protocol/label/source.ts";
export type { ToolFailure } from "../protocol/outcome/observation.ts";
export type { Reconciliation } from "../protocol/outcome/reconciliation.ts";
export type { ExpectedState, Verification } from "../protocol/outcome/verification.ts";
export type { Result } from "../protocol/outcome/result.ts";
export type { FailureClass } from "../protocol/outcome/taxonomy.ts";
export type { ToolCapabilities } from "../capabilities/tool.ts";
export type { ToolInvocationContext } from "../protocol/invocation/record.ts";
export type {
  AnyOperation,
  SqlValue,
  WorkspaceCaller,
  WorkspaceDefinition,
  WorkspaceOperation,
  WorkspaceReads,
  WorkspaceSql,
} from "../contracts/define/define-workspace.ts";
export type { OperationName, Workspace } from "../capabilities/workspace.ts";
export type { ContextAnswer, ContextHook, ContextRequest } from "../capabilities/context.ts";
