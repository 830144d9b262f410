import { beforeAll, describe, expect, test } from "vitest";
import { refusalOf } from "../shared/run-object.ts";
import { type Caller, send } from "../shared/worker.ts";
import { callItems, governStudio } from "../shared/workspaces.ts";

const POLICY = {
  allowedTools: ["lab__keep_item", "lab__show_items"],
  workspaces: { studio: { actors: ["user:ada"], roles: ["designer"] } },
};

beforeAll(async () => {
  await governStudio(POLICY);
  await governStudio(POLICY, "dora");
});

function follow(caller: Caller, path: string, lastEventId?: string): Promise<Response> {
  const headers = lastEventId === undefined ? {} : { "last-event-id": lastEventId };
  return send(`/v1/workspaces/${path}/changes`, { caller, headers });
}

/** Reads the next events of a stream. */
async function read(response: Response, count: number): Promise<readonly string[]> {
  const reader = response.body?.getReader();
  if (!reader) throw new Error(`no stream; status ${response.status}`);
  let text = "";
  while (text.split("\n\n").length <= count) {
    const { value, done } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value as Uint8Array);
  }
  await reader.cancel();
  return text.split("\n\n").slice(0, count);
}

async function keep(name: string, how?: string): Promise<string> {
  const args = { name, ...(how !== undefined && { how }) };
  const kept = await callItems({ caller: "ada", tool: "lab__keep_item", args });
  return kept.result_payload.data?.id ?? "";
}

function changed(revision: number, id: string): string {
  const data = JSON.stringify({ entity: "item", id, revision });
  return `id: ${revision}\nevent: workspace_changed\ndata: ${data}`;
}

function reset(revision: number): string {
  return `id: ${revision}\nevent: workspace_reset\ndata: {"revision":${revision}}`;
}

describe("the changes of a workspace", () => {
  test("reach a member as they happen, and a failed operation announces none", async () => {
    const stream = await follow("ben", "lab/studio");
    expect(stream.headers.get("content-type")).toBe("text/event-stream");
    await keep("refused", "fail");
    const id = await keep("shown");
    expect(await read(stream, 2)).toEqual([reset(0), changed(1, id)]);
  });

  test("are resumed after the last one that arrived", async () => {
    const [second, third] = [await keep("two"), await keep("three")];
    expect(await read(await follow("ada", "lab/studio", "1"), 2)).toEqual([
      changed(2, second),
      changed(3, third),
    ]);
  });

  test("begin anew for a reader whose revision the workspace does not have", async () => {
    expect(await read(await follow("ada", "lab/studio", "999"), 1)).toEqual([reset(3)]);
  });

  test.each([
    ["of others", "cleo", "lab/studio"],
    ["that does not exist", "ada", "lab/no-such"],
    ["of no definition", "ada", "other/studio"],
    ["with an id that no policy has", "ada", "lab/constructor"],
    ["of another tenant", "dora", "lab/studio"],
  ] as const)("are not found for a workspace %s", async (_what, caller, path) => {
    expect(await refusalOf(await follow(caller, path))).toEqual([404, "workspace_not_found"]);
  });

  test("need the scope chat and a revision as their last event id", async () => {
    expect(await refusalOf(await follow("auditor", "lab/studio"))).toEqual([
      403,
      "insufficient_scope",
    ]);
    for (const id of ["-1", "1-2", "x", "1".repeat(16)]) {
      expect(await refusalOf(await follow("ada", "lab/studio", id))).toEqual([
        400,
        "event_id_invalid",
      ]);
    }
  });
});

describe("the list of workspaces", () => {
  const listOf = async (caller: Caller): Promise<unknown> => {
    const response = await send("/v1/workspaces", { caller });
    const { workspaces } = await response.json<{ workspaces: readonly { name: string }[] }>();
    return workspaces.filter(({ name }) => name === "lab");
  };

  test("has those of which the caller is a member, and no others", async () => {
    expect(await listOf("ada")).toEqual([{ name: "lab", id: "studio" }]);
    expect(await listOf("ben")).toEqual([{ name: "lab", id: "studio" }]);
    expect(await listOf("cleo")).toEqual([]);
    expect(await listOf("dora")).toEqual([]);
  });

  test("needs the scope chat", async () => {
    const refused = await send("/v1/workspaces", { caller: "auditor" });
    expect(await refusalOf(refused)).toEqual([403, "insufficient_scope"]);
  });
});
