import type { AnyToolContract } from "../../contracts/define/definition.ts";
import type { Surroundings } from "../run/run-settings.ts";
import { call, say, scriptedModel } from "../run/scripted-model.ts";
import { startRun } from "../run/start-run.ts";
import type { ApprovingVote, TestRun } from "../run/test-run.ts";
import type { EndedCall } from "./test-call.ts";

/** What surrounds one call. */
export interface CallSurroundings extends Surroundings {
  /** Approvals of the call, in order. */
  readonly approvals?: readonly ApprovingVote[];
  /** Further tools, such as the one that undoes the call. */
  readonly tools?: readonly AnyToolContract[];
}

/** How a call ended, and the run that held it. */
export interface ToolResult extends EndedCall {
  /** The run of one call, with its events, audit entries and requests. */
  readonly run: TestRun;
}

/**
 * Runs one tool call through every gate, as a model's call in a run.
 * Contract: returns failures; see `startRun` for what throws.
 * Fails: throws when the call waits for people, and when nobody is asked for a given approval.
 */
export async function runTool(
  tool: AnyToolContract,
  args: object | string = {},
  { approvals = [], tools = [], ...surroundings }: CallSurroundings = {},
): Promise<ToolResult> {
  const model = scriptedModel([call(tool.name, args), say("Done.")]);
  const others = tools.filter((other) => other !== tool);
  const run = await startRun({ ...surroundings, tools: [tool, ...others], model });
  for (const vote of approvals) await run.approve(vote);
  const [ended] = run.calls;
  if (!ended) throw new Error(`${tool.name} was not called: ${run.done?.error?.message}`);
  if (!ended.isOpen) return { ...ended, run };
  const [open] = run.approvals;
  if (!open) {
    throw new Error(
      `The outcome of ${tool.name} is unknown, and the call waits for an operator. ` +
        "To resolve it, use startRun and run.resolveOutcome.",
    );
  }
  throw new Error(
    `${tool.name} waits for approvals: ${open.approvals} of ${open.required} are given. ` +
      `Name the approvers: { approvals: [{ by: "bob", roles: ["operator"] }] }. To test the wait ` +
      "itself, use startRun.",
  );
}
