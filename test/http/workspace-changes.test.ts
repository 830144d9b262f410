import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { refusalOf } from "../shared/run-object.ts";
import { bindings, type Caller, HOST_PAGE, send } from "../shared/worker.ts";
import { callItems, governStudio } from "../shared/workspaces.ts";
import { objectNameOf } from "../../src/protocol/workspace/address.ts";
import type { TenantId } from "../../src/protocol/identity/ids.ts";

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

describe("those who may not follow any more", () => {
  const PAGES = {
    ...POLICY,
    allowedTools: [...POLICY.allowedTools, "core__calculate"],
    origins: [HOST_PAGE],
    embedMinters: [{ actorId: "service:front" }],
  };
  const JSON_TYPE = { "content-type": "application/json" };

  beforeEach(() => governStudio(PAGES));

  /** Mints a token of ada's, and asks as the page that holds it. */
  async function pageOf(toolIds: readonly string[]): Promise<(path: string) => Promise<Response>> {
    const body = JSON.stringify({ origin: HOST_PAGE, actorId: "user:ada", toolIds });
    const init = { caller: "front", method: "POST", headers: JSON_TYPE, body } as const;
    const minted = await send("/v1/embed-tokens", init);
    const { token } = await minted.json<{ token: string }>();
    const headers = { authorization: `Bearer ${token}`, origin: HOST_PAGE };
    return (path) => send(path, { headers });
  }

  const CHANGES = "/v1/workspaces/lab/studio/changes";

  test("a page without a tool of the workspace reads none of its changes, and does not see it", async () => {
    const blind = await pageOf(["core__calculate"]);
    expect(await refusalOf(await blind(CHANGES))).toEqual([404, "workspace_not_found"]);
    expect(await (await blind("/v1/workspaces")).json()).toEqual({ workspaces: [] });
    const seeing = await pageOf(["core__calculate", "lab__show_items"]);
    const stream = await seeing(CHANGES);
    expect(stream.status).toBe(200);
    await stream.body?.cancel();
    const listed = await (await seeing("/v1/workspaces")).json();
    expect(listed).toEqual({ workspaces: [{ name: "lab", id: "studio" }] });
  });

  test("one page takes eight places, and leaves the others to its person and to members", async () => {
    const ask = await pageOf(["lab__show_items"]);
    const taken = await Promise.all(Array.from({ length: 140 }, () => ask(CHANGES)));
    const open = taken.filter(({ status }) => status === 200);
    expect(open).toHaveLength(8);
    const refused = taken.find(({ status }) => status === 429);
    expect(await refusalOf(refused ?? new Response())).toEqual([429, "too_many_readers"]);
    const others = await Promise.all([follow("ada", "lab/studio"), follow("ben", "lab/studio")]);
    expect(others.map(({ status }) => status)).toEqual([200, 200]);
    for (const { body } of [...open, ...others]) await body?.cancel();
  });

  test("a member who is removed loses the stream with the change of the policy", async () => {
    const [kept, lost] = [await follow("ada", "lab/studio"), await follow("ben", "lab/studio")];
    await governStudio({ ...PAGES, workspaces: { studio: { actors: ["user:ada"] } } });
    // The stream ends by itself, before anything else happens in the workspace.
    expect(await lost.text()).not.toContain("workspace_changed");
    const id = await keep("after the removal");
    const [, change] = await read(kept, 2);
    expect(change).toContain(id);
  });

  test.each([
    ["its origin was removed", { origins: [] }],
    ["the tools were removed", { allowedTools: ["lab__keep_item"] }],
    [
      "its person has two workspaces",
      { workspaces: { ...POLICY.workspaces, b: { actors: ["user:ada"] } } },
    ],
  ])("a page hears of no further change when %s", async (_why, change) => {
    const stream = await (await pageOf(["lab__show_items"]))(CHANGES);
    expect(stream.status).toBe(200);
    await governStudio({ ...PAGES, ...change });
    await callItems({
      caller: "ada",
      tool: "lab__keep_item",
      workspaceId: "studio",
      args: { name: "x" },
    });
    expect(await stream.text()).not.toContain("workspace_changed");
  });

  test("the object asks the current policy, whatever its caller has checked", async () => {
    const address = { name: "lab", tenantId: "studio" as TenantId, workspaceId: "studio" };
    const object = bindings.WORKSPACES.get(bindings.WORKSPACES.idFromName(objectNameOf(address)));
    const openAs = async (follower: object): Promise<string> => {
      const headers = {
        "x-address": JSON.stringify(address),
        "x-follower": JSON.stringify({ roles: [], toolIds: ["lab__show_items"], ...follower }),
      };
      const answer = await object.fetch("https://workspace/changes", { headers });
      if (!answer.ok) return answer.text();
      await answer.body?.cancel();
      return "open";
    };
    expect(await openAs({ actorId: "user:ada" })).toBe("open");
    expect(await openAs({ actorId: "user:cleo" })).toBe("workspace_not_found");
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
