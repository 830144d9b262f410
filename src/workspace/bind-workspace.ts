import type { Clock } from "../capabilities/system.ts";
import type {
  OperationCall,
  OperationName,
  Workspace,
  WorkspaceBinder,
  WorkspaceBinding,
  WorkspaceGateway,
} from "../capabilities/workspace.ts";
import type { Given } from "../protocol/json/author-data.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { Result } from "../protocol/outcome/result.ts";

/** Binds workspaces to calls of tools and of the context hook. */
export function createWorkspaceBinder(
  gateway: Pick<WorkspaceGateway, "call">,
  clock: Pick<Clock, "nowMs">,
): WorkspaceBinder {
  return { bind: (binding) => bindWorkspace(gateway, binding, clock.nowMs()) };
}

/** Threat: arguments choose the workspace. Its id comes from the user, which a gate has set. */
function bindWorkspace(
  gateway: Pick<WorkspaceGateway, "call">,
  { name, user, timeoutMs, write, rehearsalKey, sources }: WorkspaceBinding,
  nowMs: number,
): Workspace {
  const { runId, conversationId, toolCallId, tenantId, actorId, subjectId, workspaceId } = user;
  if (workspaceId === undefined) throw new Error("the gates chose no workspace for this call");
  const calls: Omit<OperationCall, "operation" | "args"> = {
    workspace: { name, tenantId, workspaceId },
    actorId,
    ...(subjectId !== undefined && { subjectId }),
    runId,
    conversationId,
    ...(toolCallId !== undefined && { toolCallId }),
    deadlineMs: nowMs + timeoutMs,
  };
  const send = async <Data>(
    call: Pick<OperationCall, "operation" | "args" | "key" | "keyTtlMs" | "rehearsalKey">,
  ): Promise<Result<Data, ToolFailure>> => {
    const { key = call.rehearsalKey } = call;
    const after = key === undefined ? [] : sources.list();
    const made = after.length > 0 && { fromUntrusted: after };
    const answer = await gateway.call({ ...calls, ...call, ...made });
    if (call.key !== undefined && answer.write) write?.note(answer.write);
    if (answer.fromUntrusted) sources.note(answer.fromUntrusted);
    // The object validates what the operation answers by the operation's own schema.
    return answer.result as Result<Data, ToolFailure>;
  };
  return {
    async call<Args, Data>(
      { name: operation, kind }: OperationName<Args, Data>,
      args: Given<Args>,
    ) {
      const isWrite = kind === "write";
      if (isWrite && !write) {
        throw new Error(`${operation} writes; only execute of a tool with an effect may call it`);
      }
      const under = isWrite && write && { key: write.key, keyTtlMs: write.keyTtlMs };
      return send<Data>({ operation, args, ...under });
    },
    async rehearse<Args, Data>({ name: operation }: OperationName<Args, Data>, args: Given<Args>) {
      if (rehearsalKey === undefined) throw new Error(`this call cannot rehearse ${operation}`);
      return send<Data>({ operation, args, rehearsalKey });
    },
  };
}
