import * as v from "valibot";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { WAITING } from "../../../../src/runner/waiting.ts";
import { approveAtDesk, type Forgery } from "../../../../src/testing/fakes/approve-at-desk.ts";
import { TestDesk } from "../../../../src/testing/fakes/test-desk.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import type { Subject } from "../subject.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { openTrial } from "../trial.ts";

const description = v.object({
  action: v.pipe(v.string(), v.regex(/\S/)),
  consequence: v.pipe(v.string(), v.regex(/\S/)),
});

/**
 * A call that needs an approval does not run without one, whether contract or policy requires it.
 */
export const approvalGate: TestMode = {
  id: "approval",
  name: "Approval Gate",
  async run(subject, checks) {
    const { contract } = subject;
    checkDescriptions(subject, checks);
    const asks = [
      { requireApprovalForEffects: [contract.effect] },
      { requireApprovalForClasses: [contract.sideEffectClass] },
    ];
    for (const policy of asks) {
      checks.that(
        "it waits for the person that policy asks for",
        await waits(subject, policy),
        policy,
      );
    }
    if (!contract.transactional.confirmationRequired) {
      const runs = await endAfter(subject, { approved: true });
      const isLeft = runs === "SUCCESS";
      checks.that("it runs where neither contract nor policy asks for a person", isLeft, runs);
      return undefined;
    }
    checks.that("it waits for the person that its contract asks for", await waits(subject));
    for (const { name, forgery, end } of APPROVALS) {
      const seen = await endAfter(subject, { approved: false, forgery });
      checks.that(`${name} lets it come to ${end}`, seen === end, seen);
    }
    return undefined;
  },
};

const REFUSED = "CONFIRMATION_MISSING";
/** Possible decisions, and the outcome of the call. The tool must run only for a success. */
const APPROVALS: readonly {
  readonly name: string;
  readonly forgery: Forgery;
  readonly end: string;
}[] = [
  { name: "a valid approval", forgery: {}, end: "SUCCESS" },
  { name: "one of another run", forgery: { token: { trace_id: "run_other" } }, end: REFUSED },
  {
    name: "one of another payload",
    forgery: { token: { payload_hash: "sha256:0" } },
    end: REFUSED,
  },
  { name: "one that was taken", forgery: { record: { consumedAtMs: 1 } }, end: REFUSED },
  {
    name: "one that came late",
    forgery: { token: { expires_at: "2000-01-01T00:00:00Z" } },
    end: REFUSED,
  },
  { name: "one that was signed elsewhere", forgery: { secret: "x".repeat(32) }, end: REFUSED },
  { name: "a rejection", forgery: { record: { status: "rejected" } }, end: "PERMISSION_DENIED" },
];

async function waits(subject: Subject, policy: object = {}): Promise<boolean> {
  const { ask, started } = openTrial(subject, {
    answer: () => answerOf(subject),
    approved: false,
    policy,
  });
  return (await ask(argsOf(subject))) === WAITING && started.length === 0;
}

interface Approving {
  readonly approved: boolean;
  readonly forgery?: Forgery;
}

/** Returns the class of a call after a decision, or the fact that the tool ran nevertheless. */
async function endAfter(subject: Subject, { approved, forgery }: Approving): Promise<string> {
  const desk = new TestDesk();
  const { ask, started } = openTrial(subject, {
    answer: () => answerOf(subject),
    approved,
    ports: { approvals: desk },
  });
  const at = { step: 1, id: "call_1" };
  if (forgery) {
    await ask(argsOf(subject), at);
    await approveAtDesk(desk, forgery);
  }
  const outcome = await ask(argsOf(subject), at);
  if (outcome === WAITING) return WAITING;
  const [seen] = endOf(outcome);
  return started.length === (seen === "SUCCESS" ? 1 : 0) ? seen : "it ran";
}

function answerOf({ outputs }: Subject): unknown {
  return ok(outputs[0]);
}

function argsOf({ validArgs }: Subject): JsonObject {
  return validArgs[0] ?? {};
}

/** A call that cannot be described to a person cannot be approved. */
function checkDescriptions({ contract, validArgs }: Subject, checks: Checks): void {
  if (!contract.describe) return;
  for (const args of validArgs) {
    const said = describe(contract.describe.bind(contract), v.parse(contract.input, args));
    const isTold = v.is(description, said);
    checks.that("`describe` words the action and its consequence of every call", isTold, said);
  }
}

/** A call is described even where the state of its target is not known. */
function describe(ask: (args: never, before: null) => unknown, args: unknown): unknown {
  try {
    return ask(args as never, null);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}
