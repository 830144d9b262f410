import type {
  FollowRefusal,
  WorkspaceGateway,
  WorkspaceMethods,
} from "../../capabilities/workspace.ts";
import { fail, ok } from "../../protocol/outcome/result.ts";
import { objectNameOf, type WorkspaceAddress } from "../../protocol/workspace/address.ts";

/** Reaches the Durable Object of each workspace by its address. */
export function createDurableWorkspaces(workspaces: DurableObjectNamespace): WorkspaceGateway {
  const objectOf = (address: WorkspaceAddress): DurableObjectStub & WorkspaceMethods =>
    workspaces.get(workspaces.idFromName(objectNameOf(address))) as DurableObjectStub &
      WorkspaceMethods;
  return {
    async call(call) {
      try {
        return await objectOf(call.workspace).call(call);
      } catch {
        return { result: UNREACHABLE };
      }
    },
    async follow(address, follower, after) {
      const headers = {
        "x-address": JSON.stringify(address),
        "x-follower": JSON.stringify(follower),
        ...(after !== undefined && { "last-event-id": String(after) }),
      };
      const answer = await objectOf(address).fetch("https://workspace/changes", { headers });
      return answer.ok ? ok(answer) : fail((await answer.text()) as FollowRefusal);
    },
    async recheck(address) {
      try {
        await objectOf(address).recheck();
      } catch {
        // Its feed asks again before the next change.
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
