import type { WorkspaceBinder } from "../../../src/capabilities/workspace.ts";
import type {
  AnyOperation,
  WorkspaceDefinition,
} from "../../../src/contracts/define/define-workspace.ts";
import type { ClosedObjectSchema } from "../../../src/contracts/define/definition.ts";
import { deriveSchema } from "../../../src/contracts/check/derive-schema.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { sampleObjects } from "./subject.ts";

/** The workspace of a trial; its caller is a member. */
export const WORKSPACE_ID = "harness";

/** The outputs of the operations of the deployment, by workspace and name. */
const outputs = new Map<string, ClosedObjectSchema>();

/** Hosts the workspaces of a deployment: `fakeWorkspaces` answers as their operations do. */
export function hostInTrials(definitions: readonly WorkspaceDefinition[]): void {
  for (const { name, operations } of definitions) {
    for (const operation of operations) outputs.set(`${name}/${operation.name}`, operation.output);
  }
}

/**
 * Answers every operation with a sample of its own output, the same one each time. The call of an
 * operation that no hosted workspace has brings its output along.
 */
export const fakeWorkspaces: WorkspaceBinder = {
  bind: ({ name: workspace, write }) => ({
    async call(operation) {
      const { kind, name } = operation;
      if (kind === "write" && !write) throw new Error(`${name} writes`);
      const sample = answerOf(workspace, operation);
      if (kind === "write") write?.note("changed");
      return ok(sample as never);
    },
    rehearse: async (operation) => ok(answerOf(workspace, operation) as never),
  }),
};

function answerOf(workspace: string, operation: { readonly name: string }): JsonObject {
  const { name } = operation;
  const own = (operation as Partial<AnyOperation>).output;
  const output = outputs.get(`${workspace}/${name}`) ?? own;
  if (!output) throw new Error(`${name} is no operation of ${workspace}`);
  return samples.get(output) ?? sampleOf(output, name);
}

const samples = new WeakMap<object, JsonObject>();

function sampleOf(output: ClosedObjectSchema, name: string): JsonObject {
  const [sample] = sampleObjects(deriveSchema(output), 1);
  if (!sample) throw new Error(`no output could be made for ${name}`);
  samples.set(output, sample);
  return sample;
}
