import type { WorkspaceGateway, WorkspaceMethods } from "../capabilities/workspace.ts";
import { fail } from "../protocol/outcome/result.ts";
import { objectNameOf } from "../protocol/workspace/address.ts";

/** Reaches the Durable Object of each workspace by its address. */
export function createDurableWorkspaces(workspaces: DurableObjectNamespace): WorkspaceGateway {
  return {
    async call(call) {
      const id = workspaces.idFromName(objectNameOf(call.workspace));
      try {
        return await (workspaces.get(id) as DurableObjectStub & WorkspaceMethods).call(call);
      } catch {
        return { result: UNREACHABLE };
      }
    },
  };
}

/** The call may have arrived: whether it changed anything is not known. */
const UNREACHABLE = fail({
  taxonomyClass: "DEPENDENCY_UNAVAILABLE",
  errors: [
    {
      field: null,
      code: "workspace_unreachable",
      message: "the workspace does not answer; try again later",
    },
  ],
} as const);
