import policy from "../../../tenant/policy.json";
import { GAMEPLAN_TOOLS } from "../tools/pack.ts";
import { APPROVE, callOf, decide, openOf } from "../../../test/shared/people.ts";
import {
  chat,
  chunksOf,
  runIdOf,
  send,
  stateOf,
  type Caller,
} from "../../../test/shared/worker.ts";
import { governStudio } from "../../../test/shared/workspaces.ts";

export const GAMEPLAN_IDS = GAMEPLAN_TOOLS.map(({ name }) => name);

/** A policy under which ada and designers are members of the workspace `studio`. */
export const GAMEPLAN_POLICY = {
  allowedTools: GAMEPLAN_IDS,
  dataFlow: policy.dataFlow,
  workspaces: { studio: { actors: ["user:ada", "user:dora"], roles: ["designer"] } },
};

export const governGameplan = (caller: Caller = "ada"): Promise<void> =>
  governStudio(GAMEPLAN_POLICY, caller);

/** What the reader of a run sees of a call of GamePlan. */
export interface GameplanResult {
  readonly status: { readonly taxonomy_class: string };
  readonly result_payload: {
    readonly data: {
      readonly toolName: string;
      readonly description: string;
      readonly apiCall: { readonly service: string; readonly mutationType: string };
      readonly result: { readonly success: true; readonly data: Data };
      readonly executedAt: string;
    } | null;
    readonly errors: readonly { readonly code: string; readonly message: string }[];
  };
  /** A person was asked. */
  readonly asked: boolean;
}

/** Data of any tool; a test knows the fields of its own. */
// oxlint-disable-next-line typescript/no-explicit-any -- each of the 33 tools has other fields
export type Data = any;

/** Lets the model call a tool. A person who is asked agrees. */
export async function callTool(
  caller: Caller,
  tool: string,
  args: object,
): Promise<GameplanResult> {
  const response = await chat([{ calls: [callOf(`gameplan__${tool}`, args)] }], caller);
  const runId = runIdOf(response);
  // The stream ends with the run, or when the run waits for people.
  await chunksOf(response);
  const asked = openOf(await stateOf(runId, caller));
  for (const approvalId of asked) {
    const decided = await decide(approvalId, caller, APPROVE);
    if (decided.status !== 200) throw new Error(await decided.text());
  }
  const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller }));
  const result = chunks.findLast(({ type }) => type === "result")?.["result"];
  if (result === undefined) throw new Error(JSON.stringify(chunks));
  return { ...(result as GameplanResult), asked: asked.length > 0 };
}

/** Calls a tool that has to succeed, and answers its data. */
export async function dataOf(caller: Caller, tool: string, args: object): Promise<Data> {
  const { result_payload: payload } = await callTool(caller, tool, args);
  if (!payload.data) throw new Error(`${tool}: ${JSON.stringify(payload.errors)}`);
  return payload.data.result.data;
}
