import type { AnyToolContract, StepResults } from "../../../../src/contracts/define/definition.ts";
import type { AnyOperation } from "../../../../src/contracts/define/define-workspace.ts";
import type { MemoryWorkspace } from "./memory-workspace.ts";

interface StepsOfSaga {
  readonly saga: AnyToolContract;
  /** The operation of each step, in their order. */
  readonly operations: readonly AnyOperation[];
}

/** Makes the steps of a saga with the arguments that it gives them. Answers its result. */
export function makeSteps(
  workspace: MemoryWorkspace,
  { saga, operations }: StepsOfSaga,
  args: object,
): unknown {
  const outputs = new Map<string, object>();
  const results: StepResults = {
    of: ({ name }) => ({ result: { data: outputs.get(name.slice("gameplan__".length)) } }),
  };
  saga.saga?.steps.forEach((step, index) => {
    const operation = operations[index];
    if (!operation) throw new Error(`${step.tool} has no operation`);
    outputs.set(operation.name, workspace.call(operation, step.arguments(args as never, results)));
  });
  const output: unknown = saga.saga?.result(args as never, results);
  return (output as { readonly result: { readonly data: unknown } }).result.data;
}
