import type { Mutant } from "./mutant.ts";

const HTTP = "test/http/compensation.test.ts";

/** What undoes a call: its rules, its secrecy, and its tools that models never see. */
export const COMPENSATION: readonly Mutant[] = [
  {
    name: "a saga undoes a call",
    file: "src/contracts/check/register.ts",
    from: "if (named.some(({ saga }) => saga)) {",
    to: "if (false) {",
    test: {
      file: "test/contracts/define/saga.test.ts",
      name: "registration refuses a saga that undoes a call",
    },
  },
  {
    name: "a tool that only reads may undo calls",
    file: "src/contracts/check/register.ts",
    from: 'if (named.some(({ effect }) => effect === "read_only")) {',
    to: "if (false) {",
    test: {
      file: "test/contracts/check/registration.test.ts",
      name: "refuses a compensating tool that only reads",
    },
  },
  {
    name: "a tool that a crash runs twice may undo calls",
    file: "src/contracts/check/register.ts",
    from: "return named.every(({ idempotency }) => idempotency.supported)",
    to: "return named.length > 0",
    test: {
      file: "test/contracts/check/registration.test.ts",
      name: "refuses a compensating tool that a crash could run twice, in any of its versions",
    },
  },
  {
    name: "a write that can be undone names nothing that undoes it",
    file: "src/contracts/check/consistency.ts",
    from: "if (compensationTool !== null && hasArguments) return undefined;",
    to: "return undefined;",
    test: {
      file: "test/contracts/check/consistency.test.ts",
      name: "a call that can be undone, without the arguments for it",
    },
  },
  {
    name: "a throw of compensate loses the outcome",
    file: "src/runner/undo/plan-compensation.ts",
    from: 'ports.log.fault("compensation_lost", thrown, about);\n    return LOST;',
    to: "throw thrown;",
    test: {
      file: HTTP,
      name: "a call whose compensate throws has happened, and says that nothing undoes it",
    },
  },
  {
    name: "arguments that do not fit are stored",
    file: "src/runner/undo/plan-compensation.ts",
    from: "if (!read.ok || !plain.ok)",
    to: "if (!plain.ok)",
    test: {
      file: HTTP,
      name: "a call whose compensate does not fit has happened, and says that nothing undoes it",
    },
  },
  {
    name: "compensate gets what redaction lets through",
    file: "src/runner/undo/plan-compensation.ts",
    from: "compensate(args, outcome.value.raw)",
    to: "compensate(args, outcome.value.data)",
    test: {
      file: HTTP,
      name: "how to undo a call is stored with its outcome, raw, and never leaves the run's object",
    },
  },
  {
    name: "a model's call finds a hidden tool",
    file: "src/runner/gates/lookup-tool.ts",
    from: "tool.shownToModel || !isAskedByModel",
    to: "true",
    test: {
      file: HTTP,
      name: "a model does not see a hidden tool, and a call of it is a call of an unknown tool",
    },
  },
  {
    name: "the catalog shows hidden tools",
    file: "src/contracts/catalog/tool-catalog.ts",
    from: "offered.filter(([, { shownToModel }]) => shownToModel)",
    to: "offered",
    test: {
      file: HTTP,
      name: "a model does not see a hidden tool, and a call of it is a call of an unknown tool",
    },
  },
  {
    name: "a packet says that a denied tool undoes the call",
    file: "src/runner/approval/describe-compensation.ts",
    from: 'decide(ports.policy, compensator) !== "deny"',
    to: "true",
    test: {
      file: "test/runner/approval/build-packet.test.ts",
      name: "of a call whose tool to undo it the policy denies says that nothing undoes it",
    },
  },
  {
    name: "people cannot call hidden tools",
    file: "src/http/claim/check-tools.ts",
    from: 'if (!spec) return problem("tool_not_found");',
    to: 'if (!spec?.shownToModel) return problem("tool_not_found");',
    test: {
      file: "test/http/compensation.test.ts",
      name: "a person calls a hidden tool that the policy allows, and no other one",
    },
  },
];
