import * as v from "valibot";
import { ok } from "../../../../src/protocol/result.ts";
import { endOf } from "../../../../test/suites/runner-ports.ts";
import type { Subject } from "../subject.ts";
import { pending, type Checks, type TestMode } from "../test-mode.ts";
import { openTrial } from "../trial.ts";

const description = v.object({
  action: v.pipe(v.string(), v.regex(/\S/)),
  consequence: v.pipe(v.string(), v.regex(/\S/)),
});

/** What needs a person does not run without one, whoever asks for the person: contract or policy. */
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
      const isHeld = await endsAs(subject, "CONFIRMATION_MISSING", policy);
      checks.that("it does not run without the person that policy asks for", isHeld, policy);
    }
    if (contract.transactional.confirmationRequired) {
      const isHeld = await endsAs(subject, "CONFIRMATION_MISSING");
      checks.that("it does not run without the person that its contract asks for", isHeld);
      return pending(
        "nobody can approve a call yet: what a valid, foreign, used or late token does",
      );
    }
    const runs = await endsAs(subject, "SUCCESS");
    checks.that("it runs where neither contract nor policy asks for a person", runs);
    return undefined;
  },
};

async function endsAs(subject: Subject, end: string, policy: object = {}): Promise<boolean> {
  const answer = (): unknown => ok(subject.outputs[0]);
  const { call, started } = openTrial(subject, { answer, approved: false, policy });
  const [seen] = endOf(await call(subject.validArgs[0]));
  return seen === end && started.length === (end === "SUCCESS" ? 1 : 0);
}

/** A person who cannot be told what a call does cannot approve it. */
function checkDescriptions({ contract, validArgs }: Subject, checks: Checks): void {
  if (!contract.describe) return;
  for (const args of validArgs) {
    const said = describe(contract.describe.bind(contract), v.parse(contract.input, args));
    const isTold = v.is(description, said);
    checks.that("`describe` words the action and its consequence of every call", isTold, said);
  }
}

function describe(ask: (args: never) => unknown, args: unknown): unknown {
  try {
    return ask(args as never);
  } catch (error) {
    return error instanceof Error ? error.message : error;
  }
}
