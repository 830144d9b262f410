import type { WorkspaceBinder } from "../../../src/capabilities/workspace.ts";
import type { ClosedObjectSchema } from "../../../src/contracts/definition.ts";
import { deriveSchema } from "../../../src/contracts/derive-schema.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { ok } from "../../../src/protocol/outcome/result.ts";
import { sampleObjects } from "./subject.ts";

/** The workspace of a trial; its caller is a member. */
export const WORKSPACE_ID = "harness";

/** Answers every operation with a sample of its own output, the same one each time. */
export const fakeWorkspaces: WorkspaceBinder = {
  bind: ({ write }) => ({
    call(operation) {
      const { kind, name, output } = operation as typeof operation & {
        readonly output: ClosedObjectSchema;
      };
      if (kind === "write" && !write) throw new Error(`${name} writes`);
      const sample = samples.get(output) ?? sampleOf(output, name);
      if (kind === "write") write?.note("changed");
      return Promise.resolve(ok(sample as never));
    },
  }),
};

const samples = new WeakMap<object, JsonObject>();

function sampleOf(output: ClosedObjectSchema, name: string): JsonObject {
  const [sample] = sampleObjects(deriveSchema(output), 1);
  if (!sample) throw new Error(`no output could be made for ${name}`);
  samples.set(output, sample);
  return sample;
}
