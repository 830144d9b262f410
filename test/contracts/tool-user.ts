import type { ToolUser } from "../../src/protocol/policy/may-use.ts";
import { ANN } from "../../src/testing/fakes/runner-ports.ts";

/** A caller without any right, in a run that names nothing. */
export const USER: ToolUser = {
  actorId: ANN,
  roles: [],
  scopes: [],
  models: ["m"],
  connectionIds: [],
  workspaceId: undefined,
};
