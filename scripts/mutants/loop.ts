import type { Mutant } from "./mutant.ts";

/** What the loop of a run keeps between the model and the tools. */
export const LOOP: readonly Mutant[] = [
  {
    name: "the attempts of a step do not count as model calls of the run",
    file: "src/loop/ask-model.ts",
    from: " || modelCalls.left <= 0) return answered",
    to: ") return answered",
    test: {
      file: "test/loop/ask-model.test.ts",
      name: "no more than 1 are made where policy allows no more",
    },
  },
  {
    name: "a half answer is withdrawn only once the policy is read",
    file: "src/loop/run-loop.ts",
    from: "    withdrawPartialText(ports.journal, memory);\n    end = await runSteps(await openScope({ input, ports, state }), memory);",
    to: "    const scope = await openScope({ input, ports, state });\n    withdrawPartialText(ports.journal, memory);\n    end = await runSteps(scope, memory);",
    test: {
      file: "test/loop/broken-incarnation.test.ts",
      name: "an incarnation that fails at once closes and withdraws the half answer",
    },
  },
  {
    name: "a run goes on without its policy",
    file: "src/loop/run-loop.ts",
    from: "if (scope.isPolicyLost) return fail(POLICY_LOST);",
    to: "",
    test: {
      file: "test/loop/broken-incarnation.test.ts",
      name: "a run whose policy cannot be read any more asks no model",
    },
  },
  {
    name: "a replay hands a call the outcome of another payload",
    file: "src/loop/replay/tools.ts",
    from: 'if (record?.binding?.idempotencyKey !== idempotencyKey) throw new Error("another operation");',
    to: "void idempotencyKey;\n      if (!record) throw new Error();",
    test: {
      file: "test/loop/replay/changed.test.ts",
      name: "in a record, arguments that are not shown, is not decided alike",
    },
  },
  {
    name: "a run ends although a steering message waits",
    file: "src/loop/run-step.ts",
    from: 'isOpen || (inbox.hasSteering && finish !== "error")',
    to: "isOpen",
    test: {
      file: "test/loop/steering.test.ts",
      name: "whose model stopped while mail waits takes another step",
    },
  },
  {
    name: "a call is launched only after the one before it has ended",
    file: "src/loop/execute-calls.ts",
    from: ".map((record) => ({ record, result: resultOf(scope, record) }));",
    to: ".map((record) => ({\n      record,\n      get result() {\n        return resultOf(scope, record);\n      },\n    }));",
    test: {
      file: "test/loop/run-step.test.ts",
      name: "launches every call at once and remembers the results in the order asked",
    },
  },
];
