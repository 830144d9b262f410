import { isDeepStrictEqual } from "node:util";
import type { AnyToolContract } from "../../../../src/contracts/define/definition.ts";
import { registerContract } from "../../../../src/contracts/check/register.ts";
import type { PlannedCompensation } from "../../../../src/protocol/invocation/record.ts";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import { sampleObjects, stillRuns, type Subject } from "../subject.ts";
import { inapplicable, type Checks, type TestMode } from "../test-mode.ts";
import { openTrial } from "../trial.ts";

/** Number of calls that are undone. */
const CALLS = 5;

/** A completed call knows the call that undoes it, and that call passes every gate. */
export const compensation: TestMode = {
  id: "compensation",
  name: "Compensation",
  async run(subject, checks) {
    const { contract, companions } = subject;
    if (contract.effect === "read_only") return inapplicable("it changes nothing");
    const { compensationTool } = contract.transactional;
    if (compensationTool === null) return inapplicable("it names no tool that undoes it");
    const running = companions.filter((tool) => tool.name === compensationTool && stillRuns(tool));
    checks.that(`${compensationTool} still runs`, running.length > 0);
    for (let call = 0; call < CALLS; call++) {
      const args = subject.validArgs[call] ?? subject.validArgs[0];
      const output = subject.outputs[call] ?? subject.outputs[0];
      const planned = await plan(subject, args, output);
      const hasPlan = planned !== undefined;
      checks.that(`compensate makes arguments that ${compensationTool} takes`, hasPlan, output);
      const again = await plan(subject, args, output);
      const isPure = isDeepStrictEqual(planned, again);
      checks.that("compensate makes the same arguments every time", isPure, [planned, again]);
      const undoing = running.find(({ version }) => version === planned?.version);
      if (planned && undoing) await checkUndoing({ subject, undoing }, planned, checks);
    }
    return undefined;
  },
};

/** Runs a call that answers the output, and reads from its record how it would be undone. */
async function plan(
  subject: Subject,
  args: JsonObject,
  output: JsonObject,
): Promise<PlannedCompensation | undefined> {
  const { call, bench } = openTrial(subject, { answer: () => ok(output) });
  await call(args);
  return bench.journal.records.at(-1)?.end?.compensation;
}

async function checkUndoing(
  { subject, undoing }: { readonly subject: Subject; readonly undoing: AnyToolContract },
  { args }: PlannedCompensation,
  checks: Checks,
): Promise<void> {
  const [output] = sampleObjects(registerContract(undoing).outputSchema);
  // A saga cannot be registered without its steps, and nothing that undoes it calls it.
  const called = subject.contract.saga ? [] : [subject.contract];
  const companions = [...called, ...subject.companions.filter((tool) => tool !== undoing)];
  const undoer: Subject = { ...subject, contract: undoing, companions, exchanges: [] };
  const { call, started } = openTrial(undoer, { answer: () => ok(output) });
  const result = await call(args);
  const isUndone = result.ok && started.length === 1;
  checks.that(`${undoing.name} passes every gate with these arguments`, isUndone, endOf(result));
}
