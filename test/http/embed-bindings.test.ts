import { beforeAll, describe, expect, test } from "vitest";
import { script } from "../fakes/scripted-model.ts";
import { govern, HOST_PAGE, putConnection, send, stateOf } from "../shared/worker.ts";

const JSON_TYPE = { "content-type": "application/json" };
const ORDER = { origin: HOST_PAGE, actorId: "user:victor", toolIds: ["lab__call_service"] };

beforeAll(async () => {
  await govern({
    allowedTools: ["lab__call_service"],
    grants: ["service", "other"].map((connectionId) => ({
      connectionId,
      tools: ["lab__call_service"],
    })),
    origins: [HOST_PAGE],
    embedMinters: [{ actorId: "service:desk" }],
  });
  for (const id of ["service", "other"]) {
    await putConnection(id, { kind: "bearer", token: `secret-of-${id}-0123456789` }, "bendable");
  }
});

function mint(more: object): Promise<Response> {
  const body = JSON.stringify({ ...ORDER, ...more });
  const init = { caller: "desk", method: "POST", headers: JSON_TYPE, body } as const;
  return send("/v1/embed-tokens", init);
}

/** Asks as a page does, with a token that binds something. */
async function ask(bound: object, named: object): Promise<Response> {
  const minted = await mint(bound);
  expect(minted.status).toBe(200);
  const { token } = await minted.json<{ token: string }>();
  const steps = [
    { calls: [{ id: "call_1", name: "lab__call_service", args: "{}" }] },
    { text: ["done"] },
  ];
  const messages = [{ role: "user", content: script(...steps) }];
  return send("/v1/chat", {
    method: "POST",
    headers: { ...JSON_TYPE, authorization: `Bearer ${token}`, origin: HOST_PAGE },
    body: JSON.stringify({ messages, ...named }),
  });
}

/** Answers the refusal of a request, or the class of its call and the connection that it used. */
async function endOf(response: Response): Promise<readonly unknown[]> {
  if (response.status !== 200) {
    return [response.status, (await response.json<{ code: string }>()).code];
  }
  const text = await response.text();
  const { toolCalls, model } = await stateOf(response.headers.get("x-run-id") ?? "", "bendable");
  const used = /"connection":"(\w+)"/.exec(text)?.[1];
  return [toolCalls[0]?.outcome, used ?? "none", model];
}

describe("the connections of an embed token", () => {
  test("are used by a page that names none", async () => {
    const end = await endOf(await ask({ connectionIds: ["service"] }, {}));
    expect(end.slice(0, 2)).toEqual(["SUCCESS", "service"]);
  });

  test("may be narrowed by a page", async () => {
    const asked = await ask({ connectionIds: ["service", "other"] }, { connectionIds: ["other"] });
    expect((await endOf(asked)).slice(0, 2)).toEqual(["SUCCESS", "other"]);
  });

  test.each([[["other"]], [["service", "other"]], [["unknown"]]])(
    "cannot be replaced or widened by a page: %j",
    async (connectionIds) => {
      const asked = await ask({ connectionIds: ["service"] }, { connectionIds });
      expect(await endOf(asked)).toEqual([422, "connection_not_available"]);
    },
  );

  test("may be none at all: then a page uses no stored credentials", async () => {
    const none = await ask({ connectionIds: [] }, {});
    expect((await endOf(none)).slice(0, 2)).toEqual(["PERMISSION_DENIED", "none"]);
    const named = await ask({ connectionIds: [] }, { connectionIds: ["service"] });
    expect(await endOf(named)).toEqual([422, "connection_not_available"]);
  });

  test("give nothing without a grant of the policy", async () => {
    const end = await endOf(await ask({ connectionIds: ["ungranted"] }, {}));
    expect(end.slice(0, 2)).toEqual(["PERMISSION_DENIED", "none"]);
  });

  test("are named by the page where the token binds none", async () => {
    const end = await endOf(await ask({}, { connectionIds: ["service"] }));
    expect(end.slice(0, 2)).toEqual(["SUCCESS", "service"]);
    expect((await endOf(await ask({}, {}))).slice(0, 2)).toEqual(["PERMISSION_DENIED", "none"]);
  });

  test.each([[["a/b"]], [["*"]], ["service"], [Array.from({ length: 17 }, (_, at) => `c${at}`)]])(
    "are ids, not %j",
    async (connectionIds) => {
      expect((await mint({ connectionIds })).status).toBe(422);
    },
  );
});

describe("the model of an embed token", () => {
  const bound = { model: "scripted-a", connectionIds: ["service"] };

  test("is used by a page that names none, and by one that names it", async () => {
    expect((await endOf(await ask(bound, {})))[2]).toBe("scripted-a");
    expect((await endOf(await ask(bound, { model: "scripted-a" })))[2]).toBe("scripted-a");
  });

  test("cannot be replaced by a page", async () => {
    const asked = await ask(bound, { model: "scripted-r" });
    expect(await endOf(asked)).toEqual([422, "model_not_allowed"]);
  });

  test("has to be offered when the token is minted", async () => {
    const refused = await mint({ model: "unheard-of" });
    expect(await endOf(refused)).toEqual([422, "model_not_allowed"]);
  });
});
