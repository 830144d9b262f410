import type { Clock } from "../capabilities/system.ts";
import type {
  OperationAnswer,
  OperationCall,
  WorkspaceGateway,
} from "../capabilities/workspace.ts";
import type { AnyToolContract } from "../contracts/define/definition.ts";
import { fail } from "../protocol/outcome/result.ts";
import { hostedOf, type Hosted, type TestWorkspace } from "./workspace/test-workspace.ts";

/** Every run of a test has the same id, so its keys need something that tells runs apart. */
let runs = 0;

/**
 * The workspaces of one run of a test. The time of the run is theirs too, unless theirs is later.
 */
export class TestHost implements Pick<WorkspaceGateway, "call"> {
  readonly #run = ++runs;
  readonly #hosted: readonly Hosted[];
  readonly #clock: Pick<Clock, "nowMs">;
  #fault: Error | undefined;

  constructor(workspaces: readonly TestWorkspace[], clock: Pick<Clock, "nowMs">) {
    this.#hosted = workspaces.map(hostedOf);
    this.#clock = clock;
  }

  /** What is wrong with the workspaces of the test; undefined when nothing is. */
  get fault(): Error | undefined {
    return this.#fault;
  }

  async call(call: OperationCall): Promise<OperationAnswer> {
    const { name, workspaceId } = call.workspace;
    const sameName = this.#hosted.filter(({ address }) => address.name === name);
    const hosted = sameName.find(({ address }) => address.workspaceId === workspaceId);
    if (!hosted) {
      const ids = sameName.map(({ address }) => address.workspaceId).join(", ");
      return this.#stop(
        `A tool called the workspace ${name} with the id ${workspaceId}, and the test has ` +
          `${ids || "none"}. Open it: testWorkspace(definition, { workspaceId: "${workspaceId}" }).`,
      );
    }
    // A call in memory is never late.
    const deadlineMs = Number.POSITIVE_INFINITY;
    const key = call.key === undefined ? {} : { key: `${this.#run} ${call.key}` };
    const answer = await hosted.call({ ...call, ...key, deadlineMs }, this.#clock.nowMs());
    const refusal = hosted.refusal();
    if (refusal === undefined) return answer;
    return this.#stop(`The workspace ${name} cannot be opened.`, refusal);
  }

  /** The run ends with the fault, so nothing may repeat the call until then. */
  #stop(message: string, cause?: unknown): OperationAnswer {
    const why = cause instanceof Error ? ` ${cause.message}.` : "";
    this.#fault ??= new Error(`${message}${why}`, { cause });
    const error = { field: null, code: "workspace_unreachable", message };
    return {
      result: fail({ taxonomyClass: "UNKNOWN_ERROR", errors: [error] }),
      write: "unchanged",
    };
  }
}

/**
 * Fails: throws for a tool whose workspace the test does not have, and for a run that names another
 * one under the policy that a test has without its own.
 */
export function refuseMissing({
  tools,
  workspaces = [],
  workspaceId,
  policy,
}: {
  readonly tools: readonly AnyToolContract[];
  readonly workspaces?: readonly TestWorkspace[];
  readonly workspaceId?: string;
  readonly policy?: unknown;
}): void {
  const addresses = workspaces.map((workspace) => hostedOf(workspace).address);
  const names = new Set(addresses.map(({ name }) => name));
  const tool = tools.find(({ workspace }) => workspace !== undefined && !names.has(workspace));
  if (tool) {
    throw new Error(
      `${tool.name} uses the workspace ${tool.workspace}, which the test does not have. Name it: ` +
        "{ workspaces: [testWorkspace(definition)] }.",
    );
  }
  const ids = new Set(addresses.map((address) => address.workspaceId));
  if (workspaceId === undefined || policy !== undefined || ids.has(workspaceId)) return;
  throw new Error(
    `The run names the workspace ${workspaceId}, and the test has ${[...ids].join(", ") || "none"}. ` +
      `Open it: testWorkspace(definition, { workspaceId: "${workspaceId}" }).`,
  );
}
