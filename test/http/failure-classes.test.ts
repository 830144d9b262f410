import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { PublishedContract } from "../../src/contracts/catalog/published-contract.ts";
import { failed, FAILURE_CLASSES } from "../workers/lab-failures.ts";
import { invoke, read } from "../shared/invoke.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { govern, seedPolicies, send, stateOf } from "../shared/worker.ts";

const TOOLS = ["lab__fail_read", "lab__fail_write", "lab__fail_keyed"];

beforeAll(async () => {
  await seedPolicies();
  await govern({ allowedTools: TOOLS });
});
beforeEach(() => {
  failed.length = 0;
});

/** What the contract says about a class: the lists that name it, without the ending `_errors`. */
async function publishedOf(tool: string): Promise<(named: string) => readonly string[]> {
  const answer = await send(`/v1/tools/${tool}`, { caller: "bendable" });
  const { contract } = await answer.json<PublishedContract>();
  const lists: readonly [string, readonly string[]][] = Object.entries(contract.error_contract);
  return (named) =>
    lists.filter(([, classes]) => classes.includes(named)).map(([list]) => list.slice(0, -7));
}

/** What happens: the same words, read from the attempts, the outcome and what the model is told. */
async function happens(tool: string, as: string): Promise<readonly string[]> {
  const asked = await invoke(tool, { as }, { caller: "bendable", key: `${tool}-${as}` });
  const { status, runId, observation } = await read(asked);
  const isRepeated = failed.length === 2;
  expect(failed).toEqual(isRepeated ? [as, as] : [as]);
  const repeats = isRepeated ? ["retryable"] : [];
  // The outcome is unknown: nothing goes on until an operator has said what happened.
  if (status === 202) return [...repeats, "fail_closed", "escalation"];
  const told = observation?.status;
  expect([told?.taxonomy_class, told?.retryable]).toEqual([as, isRepeated]);
  const [call] = (await stateOf(runId, "bendable")).toolCalls;
  const asksPeople = told?.requires_approval || call?.nextAction === "escalate_to_operator";
  return [
    ...(told?.repairable ? ["repairable"] : []),
    ...repeats,
    ...(told?.fail_closed ? ["fail_closed"] : []),
    ...(asksPeople ? ["escalation"] : []),
  ];
}

describe.each(TOOLS)("the error contract of %s", (tool) => {
  test("says what happens after each class, counted at the attempts", async () => {
    const published = await publishedOf(tool);
    const said: Record<string, readonly string[]> = {};
    const seen: Record<string, readonly string[]> = {};
    for (const as of sampleOfGroups(FAILURE_CLASSES, (one) => published(one).join(" "), 3)) {
      failed.length = 0;
      said[as] = published(as);
      seen[as] = await happens(tool, as);
    }
    expect(said).toEqual(seen);
  });
});
