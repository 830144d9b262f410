import type { Clock } from "../capabilities/system.ts";
import type { WorkspaceGateway } from "../capabilities/workspace.ts";
import type { AnyToolContract } from "../contracts/definition.ts";
import { fail } from "../protocol/outcome/result.ts";
import { hostedOf, type TestWorkspace } from "./test-workspace.ts";

/** Every run of a test has the same id, so its keys need something that tells runs apart. */
let runs = 0;

/**
 * Lets the tools of one run reach workspaces of a test. The time of the run is theirs too, unless
 * theirs is later.
 */
export function hostInTest(
  workspaces: readonly TestWorkspace[],
  clock: Pick<Clock, "nowMs">,
): WorkspaceGateway {
  const run = ++runs;
  return {
    async call(call) {
      const { name, workspaceId } = call.workspace;
      const hosted = workspaces
        .map(hostedOf)
        .find(({ address }) => address.name === name && address.workspaceId === workspaceId);
      if (!hosted) return { result: refuseUnknown(name, workspaceId) };
      // A call in memory is never late.
      const deadlineMs = Number.POSITIVE_INFINITY;
      const key = call.key === undefined ? {} : { key: `${run} ${call.key}` };
      return await hosted.call({ ...call, ...key, deadlineMs }, clock.nowMs());
    },
    follow: () => Promise.resolve(undefined),
  };
}

function refuseUnknown(name: string, workspaceId: string) {
  const message = `the test has no workspace ${name} with the id ${workspaceId}`;
  const error = { field: null, code: "workspace_unreachable", message };
  return fail({ taxonomyClass: "DEPENDENCY_UNAVAILABLE" as const, errors: [error] });
}

/** Fails: throws for a tool whose workspace the test does not have. */
export function refuseMissing(
  tools: readonly AnyToolContract[],
  workspaces: readonly TestWorkspace[],
): void {
  const names = new Set(workspaces.map((workspace) => hostedOf(workspace).address.name));
  const tool = tools.find(({ workspace }) => workspace !== undefined && !names.has(workspace));
  if (!tool) return;
  throw new Error(
    `${tool.name} uses the workspace ${tool.workspace}, which the test does not have. Name it: ` +
      "{ workspaces: [testWorkspace(definition)] }.",
  );
}
