import type { Mutant } from "./mutant.ts";

const invoked = (name: string): Mutant["test"] => ({ file: "test/http/invoke.test.ts", name });

/** What keeps a direct call to what its caller may do, once. */
export const DIRECT_CALLS: readonly Mutant[] = [
  {
    name: "a direct call that changes something needs no key",
    file: "src/http/claim/check-tools.ts",
    from: 'spec.effect === "read_only" || requestHash !== undefined',
    to: "true",
    test: invoked("would change something and has no key"),
  },
  {
    name: "an embed token calls every tool of its policy",
    file: "src/http/claim/read-allowed.ts",
    from: "narrowRun({ embed, assistant: assistant?.document })",
    to: "narrowRun({ assistant: assistant?.document })",
    test: invoked("gets the answer of an unknown tool for any other one"),
  },
  {
    name: "a page calls a tool that its assistant does not use",
    file: "src/http/claim/read-allowed.ts",
    from: "narrowRun({ embed, assistant: assistant?.document })",
    to: "narrowRun({ embed })",
    test: invoked("cannot call a tool that its assistant does not use any more"),
  },
  {
    name: "a page names connections of a direct call that its token does not bind",
    file: "src/http/claim/claim-run.ts",
    from: "if (unbound) return fail(unbound);",
    to: "",
    test: invoked("cannot name another connection"),
  },
  {
    name: "a key of a direct call answers for other arguments",
    file: "src/run/answers.ts",
    from: 'if (store.identity().requestHash !== requestHash) return { kind: "other_request" };',
    to: "",
    test: invoked("belongs to other arguments, or to another tool"),
  },
  {
    name: "a direct call in flight is answered as ended",
    file: "src/run/answers.ts",
    from: 'if (!journal.hasEnded && !store.incarnations().isWaiting) return { kind: "running" };',
    to: "",
    test: invoked("in flight is refused to a second sender, who gets the result later"),
  },
  {
    name: "a run of one call takes steering messages",
    file: "durable-objects/run/open-run.ts",
    from: "ended || store.claimed()?.call",
    to: "ended",
    test: invoked("takes no messages, and no chat continues it"),
  },
  {
    name: "a chat continues a direct call",
    file: "src/run/answers.ts",
    from: 'if (store.claimed()?.call) return { kind: "unknown" };',
    to: "",
    test: invoked("takes no messages, and no chat continues it"),
  },
  {
    name: "the loss of the object is the answer to a direct call",
    file: "src/http/runs/invoke.ts",
    from: 'if (left.kind === "unknown") throw cause;',
    to: "throw cause;",
    test: invoked("that loses its object once it acted is never made twice"),
  },
  {
    name: "every registered tool may be called",
    file: "src/http/claim/check-tools.ts",
    from: 'if (!spec) return problem("tool_not_found");',
    to: "if (!spec) return undefined;",
    test: {
      file: "test/http/invoke.test.ts",
      name: "for a denied tool exactly as for an unknown one",
    },
  },
];
