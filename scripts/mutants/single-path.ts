import type { Mutant } from "./mutant.ts";

const NEWER = "test/runner/gates/newer-policy.test.ts";
const TICKETS = "test/contracts/bind/dispatch-ticket.test.ts";

/** One way for a tool to run, and each gate once. */
export const SINGLE_PATH: readonly Mutant[] = [
  {
    name: "a ticket is good for many runs",
    file: "src/contracts/bind/dispatch-ticket.ts",
    from: "issued.delete(ticket);",
    to: "",
    test: { file: TICKETS, name: "a ticket runs its tool once" },
  },
  {
    name: "a ticket runs another tool",
    file: "src/contracts/bind/dispatch-ticket.ts",
    from: "if (call.toolId !== tool.id || call.version !== tool.version) {",
    to: "if (call.version !== tool.version) {",
    test: { file: TICKETS, name: "a ticket for another tool is refused" },
  },
  {
    name: "anything is a ticket",
    file: "src/contracts/bind/dispatch-ticket.ts",
    from: "const call = issued.get(ticket);",
    to: "const call = issued.get(ticket) ?? (ticket as unknown as DispatchedCall);",
    test: { file: TICKETS, name: "the call itself is no ticket" },
  },
  {
    name: "a newer policy's gates are not asked",
    file: "src/runner/prepare.ts",
    from: "if (!obeyed.ok) return obeyed;\n    return requireApproval",
    to: "return requireApproval",
    test: { file: NEWER, name: "the policy has a new argument rule" },
  },
  {
    name: "a newer policy requires no approval",
    file: "src/runner/prepare.ts",
    from: "return requireApproval(ports, { ...subject, terms: newTerms }, trail);",
    to: "return approved;",
    test: {
      file: NEWER,
      name: "a call waits for approval when only the newer policy requires approval",
    },
  },
  {
    name: "what a newer policy refuses is recorded as the budget's refusal",
    file: "src/runner/gates/gate.ts",
    from: "else this.#refusedBy ??= gate;",
    to: "else this.#refusedBy = gate;",
    test: { file: NEWER, name: "the tool is no longer allowed" },
  },
  {
    name: "the number of policy changes is unlimited",
    file: "src/runner/budget/reserve-under-current-policy.ts",
    from: "const MAX_POLICY_CHANGES = 3;",
    to: "const MAX_POLICY_CHANGES = 30;",
    test: {
      file: NEWER,
      name: "a call ends after the fourth change of policy, and survives three changes",
    },
  },
  {
    name: "a call that is not wanted any more is dispatched",
    file: "src/runner/execute-call.ts",
    from: "if (!wanted.ok) return wanted;",
    to: "",
    test: {
      file: "test/runner/gates/steering.test.ts",
      name: "a steering message that arrives during the reservation skips the call and releases the budget",
    },
  },
  {
    name: "a waiting steering message is seen only after the first gates",
    file: "src/runner/prepare.ts",
    from: "  const wanted = checkStillWanted(ports, wantedCall, trail);\n  if (!wanted.ok) return wanted;\n",
    to: "",
    test: {
      file: "test/runner/gates/steering.test.ts",
      name: "a steering message that waits before the first gate skips the call",
    },
  },
  {
    name: "a steering message during a gate is seen only after the reservation",
    file: "src/runner/gates/check-still-valid.ts",
    from: "askHooks, stillWantedGate] as const",
    to: "askHooks] as const",
    test: {
      file: "test/runner/gates/steering.test.ts",
      name: "a steering message that arrives during a gate skips the call",
    },
  },
];
