import { expect } from "vitest";
import { script } from "../../../../test/fakes/scripted-model.ts";
import { forgetPlans, planIncarnation } from "../../../../test/shared/crash-points.ts";
import { invoke } from "../../../../test/shared/invoke.ts";
import { APPROVE, callOf, decide, openOf } from "../../../../test/shared/people.ts";
import { chunksOf, runIdOf, send, stateOf, type Caller } from "../../../../test/shared/worker.ts";
import type { Data, GameplanResult } from "../studio.ts";

/** How a person makes a call: by a direct call, as the page does, or by asking the model. */
export type Way = "hand" | "model";

/** Where the run of a call crashes: at one of its durable writes, from 1. */
export interface RunCrash {
  readonly at: number;
  readonly mode: "before" | "after" | "durable";
}

/** A call of a person of a team. */
export interface TeamCall {
  readonly caller: Caller;
  readonly way: Way;
  readonly tool: string;
  readonly args: object;
  /** Who answers the questions. Default: the caller. */
  readonly approver?: Caller | undefined;
  readonly crash?: RunCrash | undefined;
}

/** What became of a call. */
export interface Called extends GameplanResult {
  readonly runId: string;
}

let keys = 0;

/** The people of one workspace. They repeat what a crash breaks off, as their pages do. */
export class Team {
  readonly #workspaceId: string;

  constructor(workspaceId: string) {
    this.#workspaceId = workspaceId;
  }

  /** Makes a call, answers what people are asked, and waits for its end. */
  async call({ crash, approver, ...call }: TeamCall): Promise<Called> {
    const { caller } = call;
    if (crash) planIncarnation(crash);
    const called = await this.finish(await this.start(call), { caller, approver });
    forgetPlans();
    return called;
  }

  /** Makes a call, and tells the run that makes it. */
  async start({ caller, ...call }: Omit<TeamCall, "approver" | "crash">): Promise<string> {
    const { runId, refusal } = await this.#post(caller, call);
    if (!runId) throw new Error(`${call.tool}: ${refusal}`);
    return runId;
  }

  /** Answers what people are asked, and waits for the end of a call. */
  async finish(
    runId: string,
    { caller, approver = caller }: Pick<TeamCall, "caller" | "approver">,
  ): Promise<Called> {
    const asked = await settle(runId, { caller, approver });
    return { ...(await resultOf(runId, caller)), runId, asked };
  }

  /** Reads by hand. Fails: throws where the tool refuses. */
  async read(caller: Caller, tool: string, args: object): Promise<Data> {
    const { result_payload: payload } = await this.call({ caller, way: "hand", tool, args });
    if (!payload.data) throw new Error(`${tool}: ${JSON.stringify(payload.errors)}`);
    return payload.data.result.data;
  }

  /** Takes a call back, as its author, and tells what became of that. */
  async undo({ runId }: Called, caller: Caller, crash?: RunCrash): Promise<string> {
    if (crash) planIncarnation(crash);
    const path = `/v1/runs/${runId}/invocations/inv_1/compensate`;
    const started = await untilStarted(() => send(path, { caller, method: "POST" }));
    if (!started.runId) return started.refusal;
    const undoOf = async () => (await stateOf(runId, caller)).toolCalls[0]?.undo?.status;
    await expect.poll(() => undoOf().catch(() => "running")).not.toBe("running");
    forgetPlans();
    return (await undoOf()) ?? "nothing to undo";
  }

  #post(
    caller: Caller,
    { way, tool, args }: Pick<TeamCall, "way" | "tool" | "args">,
  ): Promise<Started> {
    const key = `team-${++keys}`;
    const workspaceId = this.#workspaceId;
    const name = `gameplan__${tool}`;
    if (way === "hand") {
      return untilStarted(() => invoke(name, args, { caller, key, more: { workspaceId } }));
    }
    const content = script({ calls: [callOf(name, args)] }, { text: ["done"] });
    const body = JSON.stringify({ messages: [{ role: "user", content }], workspaceId });
    const headers = { "content-type": "application/json", "idempotency-key": key };
    return untilStarted(() => send("/v1/chat", { caller, method: "POST", headers, body }));
  }
}

/** The run of a request, or the code of its refusal. */
interface Started {
  readonly runId?: string;
  readonly refusal: string;
}

/** Sends a request until its run has begun, or until it is refused. */
async function untilStarted(request: () => Promise<Response>): Promise<Started> {
  for (;;) {
    const response = await request().catch(throwUndescribed);
    if (!response || response.status >= 500) continue;
    const text = await response.text().catch(() => "");
    if (response.headers.has("x-run-id")) return { runId: runIdOf(response), refusal: "" };
    return { refusal: (JSON.parse(text) as { readonly code: string }).code };
  }
}

/** A broken connection says nothing; an answer that no document describes is a fault. */
function throwUndescribed(error: unknown): undefined {
  if (String(error).includes("document of the API")) throw error;
}

/** Follows a run to its end, and agrees to all that it asks. Returns whether it asked. */
async function settle(
  runId: string,
  { caller, approver }: { readonly caller: Caller; readonly approver: Caller },
): Promise<boolean> {
  let asked = false;
  const statusNow = async () => {
    const state = await stateOf(runId, caller);
    for (const approvalId of openOf(state)) {
      asked = true;
      await decide(approvalId, approver, APPROVE);
    }
    return state.status;
  };
  await expect.poll(() => statusNow().catch(throwUndescribed)).toBe("completed");
  return asked;
}

async function resultOf(runId: string, caller: Caller): Promise<GameplanResult> {
  const chunks = await chunksOf(await send(`/v1/runs/${runId}/events`, { caller }));
  const result = chunks.findLast(({ type }) => type === "result")?.["result"];
  if (result === undefined) throw new Error(JSON.stringify(chunks));
  return result as GameplanResult;
}
