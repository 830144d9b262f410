import type { ContextHook } from "../capabilities/context.ts";
import { PLAIN_ASSISTANT, type AssistantDocument } from "../protocol/assistant/document.ts";

/** The assistant of this deployment, for tenants that store no `default`. */
export const DEPLOYMENT_ASSISTANT: AssistantDocument = PLAIN_ASSISTANT;

/** Gives the context of each run; see docs/assistants.md. Absent: no context. */
export const CONTEXT_HOOK: ContextHook | undefined = undefined;
