import { waitUntil } from "cloudflare:workers";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { composeWorker } from "../../src/compose/worker.ts";
import type { RawEnv } from "../../src/env.ts";
import { hostWorkspaces } from "../../src/host-workspaces.ts";
import { deploymentOf } from "../shared/deployment.ts";
import { untilState } from "../shared/run-object.ts";
import { bindings, runIdOf, stateOf } from "../shared/worker.ts";
import {
  callItems,
  failureOf,
  governStudio,
  itemNames,
  startItemCall,
} from "../shared/workspaces.ts";
import { LAB_KEEPERS, labWorkspace, ran, ranIn } from "../workers/lab-workspaces.ts";
import { replayEachRun } from "../shared/replayed-runs.ts";

replayEachRun();

const TOOLS = ["lab__keep_item", "lab__show_items"];
const POLICY = {
  allowedTools: TOOLS,
  workspaces: { studio: { actors: ["user:ada"], roles: ["designer"] } },
};

beforeAll(() => governStudio(POLICY));
beforeEach(() => void (ran.length = ranIn.length = 0));

const keep = "lab__keep_item";
const show = "lab__show_items";

test("what one member keeps, another member reads, with its author", async () => {
  const kept = await callItems({ caller: "ada", tool: keep, args: { name: "lamp" } });
  expect(kept).toMatchObject({ status: { taxonomy_class: "SUCCESS" } });
  const seen = await callItems({ caller: "ben", tool: show });
  expect(seen.result_payload.data?.items).toEqual([
    { id: kept.result_payload.data?.id, name: "lamp", author: "user:ada" },
  ]);
});

test("an operation knows its call, its run, and the conversation that the run continues", async () => {
  const runs: string[] = [];
  for (const name of ["first", "second", "third"]) {
    const previousRunId = runs.at(-1);
    const continued = previousRunId === undefined ? {} : { previousRunId };
    const response = await startItemCall({
      caller: "ada",
      tool: keep,
      args: { name },
      ...continued,
    });
    await response.text();
    runs.push(runIdOf(response));
  }
  const [conversationId] = runs;
  const states = await Promise.all(runs.map((runId) => stateOf(runId, "ada")));
  expect(ranIn).toEqual(
    states.map(({ runId, toolCalls }) => ({
      runId,
      conversationId,
      toolCallId: toolCalls[0]?.toolCallId,
    })),
  );
});

test("an operation that fails, throws, or answers wrongly changes nothing", async () => {
  const before = await itemNames("ada");
  const failures = [];
  for (const how of ["fail", "throw", "misfit", "long"]) {
    const args = { name: `never ${how}`, how };
    failures.push(failureOf(await callItems({ caller: "ada", tool: keep, args })));
  }
  expect(failures).toEqual([
    "SEMANTIC_INVALIDITY taken",
    "UNKNOWN_ERROR operation_failed",
    "OBSERVATION_NORMALIZATION_FAIL result_refused",
    "OBSERVATION_NORMALIZATION_FAIL result_refused",
  ]);
  expect(ran).toHaveLength(4);
  expect(await itemNames("ada")).toEqual(before);
});

test("a second write of one call is refused, and the first one stays", async () => {
  const args = { name: "once", afterwards: "again" };
  const answer = await callItems({ caller: "ada", tool: keep, args });
  expect(failureOf(answer)).toBe("SIGNATURE_MISMATCH other_payload");
  expect((await itemNames("ada")).filter((name) => name.startsWith("once"))).toEqual(["once"]);
});

test("a read-only tool cannot write, and a read changes nothing", async () => {
  const before = await itemNames("ada");
  const wrote = await callItems({ caller: "ada", tool: show, args: { how: "write" } });
  expect(failureOf(wrote)).toBe("UNKNOWN_ERROR tool_failed");
  await callItems({ caller: "ada", tool: show, args: { how: "sneak" } });
  expect(await itemNames("ada")).toEqual(before);
});

test("an unknown operation and arguments that do not fit are typed failures", async () => {
  const unknown = await callItems({ caller: "ada", tool: show, args: { how: "unknown" } });
  expect(failureOf(unknown)).toBe("STRUCTURAL_VIOLATION unknown_operation");
  const misfit = await callItems({ caller: "ada", tool: show, args: { how: "args" } });
  expect(failureOf(misfit)).toBe("STRUCTURAL_VIOLATION STRUCTURAL_VIOLATION");
});

describe("a deployment does not start", () => {
  const { WORKSPACES: _unbound, ...rest } = bindings as unknown as RawEnv;
  const bound = bindings as unknown as RawEnv;
  const hosted = hostWorkspaces([labWorkspace]);
  test.each([
    ["without the binding of its workspaces", rest, hosted, "binding WORKSPACES is missing"],
    [
      "with a tool whose workspace is not hosted",
      bound,
      undefined,
      "The workspace lab is not hosted",
    ],
    [
      "with two workspaces of one name",
      bound,
      hostWorkspaces([labWorkspace, labWorkspace]),
      "Two workspaces are named lab",
    ],
  ])("%s", async (_what, env, workspaces, reason) => {
    const handle = composeWorker(
      env,
      deploymentOf(LAB_KEEPERS, workspaces ? { workspaces } : {}),
      waitUntil,
    );
    const refused = await handle(new Request("https://interlock.test/healthz"));
    expect(refused.status).toBe(503);
    expect((await refused.json<{ detail: string }>()).detail).toContain(reason);
  });

  test("because of the missing binding, when it has no workspace", async () => {
    const handle = composeWorker(rest, deploymentOf([]), waitUntil);
    expect((await handle(new Request("https://interlock.test/healthz"))).status).toBe(200);
  });
});

test("the state after a write is read in the workspace of the write", async () => {
  const tool = "lab__keep_checked";
  const { studio } = POLICY.workspaces;
  await governStudio({ allowedTools: [tool], workspaces: { studio, second: studio } });
  const call = { caller: "ada", tool, args: { name: "checked" }, workspaceId: "second" } as const;
  const started = await startItemCall(call);
  const runId = runIdOf(started);
  await started.text();
  await untilState(runId, { toolCalls: [{ verification: { status: "verified" } }] }, "ada");
});
