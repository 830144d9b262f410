import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createCachedAssistants } from "../../src/adapters/tenant/cached-assistants.ts";
import type { AuthorisedRequest } from "../../src/http/request/authorise.ts";
import { chooseAssistant } from "../../src/http/claim/choose-assistant.ts";
import type { AssistantDocument } from "../../src/protocol/assistant/document.ts";
import { FakeClock } from "../../src/testing/time/fake-clock.ts";
import { hashOf } from "../../src/protocol/json/canonical-hash.ts";
import {
  putAssistant,
  seenBy,
  sendAssistant,
  type AnsweredAssistant,
} from "../shared/assistants.ts";
import { readAudit } from "../shared/audit-pages.ts";
import { govern, postChat, seedPolicies, send, stateOf, type Caller } from "../shared/worker.ts";

beforeAll(seedPolicies);

const SUPPORT = { instructions: "You help {{personId}} of {{tenantId}}. Be brief." };
const HELLO = { role: "user", content: "hello" };

const ask = (body: object, caller: Caller = "acme"): Promise<Response> =>
  postChat({ messages: [HELLO], ...body }, caller);

const read = async (id: string, caller: Caller = "acme"): Promise<AnsweredAssistant> =>
  (await send(`/v1/assistants/${id}`, { caller })).json();

const refusalOf = async (response: Response): Promise<unknown> => {
  const { code, errors, revision } = await response.json<Record<string, unknown>>();
  return [response.status, code, errors ?? revision];
};

describe("an operator", () => {
  test("stores an assistant and reads it back with its hash and every default", async () => {
    const stored = await sendAssistant("stored", SUPPORT);
    const { revision, hash } = await stored.json<AnsweredAssistant>();
    const assistant = { ...SUPPORT, settings: {}, suggestions: [] };
    expect([stored.status, stored.headers.get("etag")]).toEqual([200, `"${revision}"`]);
    expect(hash).toBe(await hashOf(assistant));
    expect(await read("stored")).toEqual({ id: "stored", revision, hash, assistant });
  });

  test("lists the assistants of the tenant by id, without their texts", async () => {
    await putAssistant("b", SUPPORT, "lab");
    await putAssistant("a", SUPPORT, "lab");
    const { assistants } = await (
      await send("/v1/assistants", { caller: "lab" })
    ).json<{ assistants: AnsweredAssistant[] }>();
    expect(assistants).toEqual(
      ["a", "b"].map((id) => ({ id, revision: expect.any(Number), hash: expect.any(String) })),
    );
  });

  test("replaces an assistant only at the revision that they read", async () => {
    const first = (await (await sendAssistant("raced", SUPPORT)).json<AnsweredAssistant>())
      .revision;
    const race = ["one", "two"].map((instructions) =>
      sendAssistant("raced", { instructions }, { headers: { "if-match": `"${first}"` } }),
    );
    const answers = await Promise.all(race);
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 412]);
    const { revision } = await read("raced");
    const again = await sendAssistant("raced", SUPPORT);
    expect(await refusalOf(again)).toEqual([412, "precondition_failed", revision]);
    expect(await refusalOf(await sendAssistant("raced", SUPPORT, { headers: {} }))).toEqual([
      428,
      "precondition_required",
      undefined,
    ]);
  });

  test("removes an assistant; a new one under its id never has an old revision", async () => {
    await putAssistant("gone", SUPPORT);
    const { revision } = await read("gone");
    const remove = (): Promise<Response> =>
      send("/v1/assistants/gone", {
        caller: "acme",
        method: "DELETE",
        headers: { "if-match": `"${revision}"` },
      });
    expect((await remove()).status).toBe(204);
    expect((await remove()).status).toBe(412);
    expect((await ask({ assistantId: "gone" })).status).toBe(404);
    await putAssistant("gone", SUPPORT);
    expect((await read("gone")).revision).toBeGreaterThan(revision ?? Infinity);
    expect((await remove()).status).toBe(412);
  });

  test("reads a replaced document by the hash that the audit log names", async () => {
    await putAssistant("kept", { instructions: "old" }, "archive");
    const { hash } = await read("kept", "archive");
    await putAssistant("kept", { instructions: "new" }, "archive");
    const old = await send(`/v1/assistants/kept?hash=${hash}`, { caller: "archive" });
    expect(await old.json()).toMatchObject({ hash, assistant: { instructions: "old" } });
    const { records } = await readAudit("?action=assistant.stored");
    const entries = records.map(({ entry }) => entry);
    expect(entries).toContainEqual(
      expect.objectContaining({
        assistantId: "kept",
        assistantHash: hash,
        actorId: "user:archive",
      }),
    );
    expect(JSON.stringify(entries)).not.toContain("new");
  });

  test.each([
    ["a typing error", { instruction: "x" }, "invalid_request", "/instruction"],
    ["an unknown variable", { instructions: "{{question}}" }, "invalid_request", "/instructions"],
    [
      "a variable that is not closed",
      { instructions: "{{actorId" },
      "invalid_request",
      "/instructions",
    ],
    [
      "a model that the deployment does not have",
      { model: "gpt-2" },
      "model_not_allowed",
      "/model",
    ],
    [
      "a tool beyond policy",
      { toolIds: ["core__calculate", "lab__pay"] },
      "tool_not_available",
      "/toolIds/1",
    ],
    ["nine suggestions", { suggestions: Array(9).fill("x") }, "invalid_request", "/suggestions"],
    ["no whole turn", { history: { wholeTurns: 0 } }, "invalid_request", "/history/wholeTurns"],
    ["too many turns", { history: { maxTurns: 5_001 } }, "invalid_request", "/history/maxTurns"],
    ["an unknown rule", { history: { turns: 5 } }, "invalid_request", "/history/turns"],
    [
      "a summary that no model writes",
      { history: { summary: { model: "gpt-2" } } },
      "model_not_allowed",
      "/history/summary/model",
    ],
    ["half a character", { instructions: "\ud83d" }, "invalid_request", "/instructions"],
  ])("is told the field of %s", async (_name, document, code, pointer) => {
    const response = await sendAssistant("faulty", document);
    expect(await refusalOf(response)).toEqual([422, code, [expect.objectContaining({ pointer })]]);
    expect((await send("/v1/assistants/faulty", { caller: "acme" })).status).toBe(404);
  });

  test("is told that an id is not valid", async () => {
    const response = await sendAssistant("no%20id", SUPPORT);
    expect(await refusalOf(response)).toEqual([400, "assistant_id_invalid", undefined]);
  });
});

describe("a run", () => {
  beforeEach(() => govern({ allowedTools: ["core__calculate", "core__get_current_time"] }));

  test("has no instructions where the tenant stored none", async () => {
    expect((await seenBy(await ask({}))).messages).toEqual([HELLO]);
    expect(await read("default")).toMatchObject({ id: "default", assistant: { instructions: "" } });
  });

  test("gives the model the instructions of its assistant, filled in, before the conversation", async () => {
    await putAssistant("support", SUPPORT, "bendable");
    const { messages } = await seenBy(await ask({ assistantId: "support" }, "bendable"));
    const content = "You help user:bendable of bendable. Be brief.";
    expect(messages).toEqual([{ role: "system", content }, HELLO]);
  });

  test("uses the tenant's own default where the request names no assistant", async () => {
    await putAssistant("default", { instructions: "Ours." }, "strict");
    const { messages } = await seenBy(await ask({}, "strict"));
    expect(messages[0]).toEqual({ role: "system", content: "Ours." });
  });

  test("uses the model and the tools of its assistant", async () => {
    const document = { model: "other", toolIds: ["core__calculate"] };
    await putAssistant("narrow", document, "bendable");
    const { model, tools } = await seenBy(await ask({ assistantId: "narrow" }, "bendable"));
    expect([model, tools?.map((tool) => tool.function.name)]).toEqual([
      "other",
      ["core__calculate"],
    ]);
  });

  test("continues a conversation under the assistant that the new request names", async () => {
    await putAssistant("first", { instructions: "First." }, "bendable");
    await putAssistant("second", { instructions: "Second." }, "bendable");
    const started = await ask({ assistantId: "first" }, "bendable");
    const previousRunId = started.headers.get("x-run-id");
    await started.text();
    const next = await ask({ assistantId: "second", previousRunId }, "bendable");
    const { messages } = await seenBy(next);
    expect(messages.map(({ role }) => role)).toEqual(["system", "user", "assistant", "user"]);
    expect(messages[0]?.content).toBe("Second.");
  });

  test("is recorded with the assistant that it pinned", async () => {
    await putAssistant("audited", SUPPORT, "archive");
    const { revision, hash } = await read("audited", "archive");
    const response = await ask({ assistantId: "audited" }, "archive");
    const runId = response.headers.get("x-run-id") ?? "";
    await response.text();
    await expect
      .poll(() => readAudit(`?run=${runId}&action=run.started`))
      .toMatchObject({
        records: [
          { entry: { assistantId: "audited", assistantHash: hash, assistantRevision: revision } },
        ],
      });
    expect((await stateOf(runId, "archive")).status).toBe("completed");
  });
});

test("an assistant that cannot be read is a 503, and no other assistant stands in", async () => {
  const assistants = createCachedAssistants({
    registry: {
      read: () => Promise.reject(new TypeError("not implemented")),
      list: () => Promise.reject(new TypeError("not implemented")),
    },
    clock: new FakeClock(),
    declared: new Map([["default", {} as AssistantDocument]]),
  });
  const request = { principal: { tenantId: "acme" }, services: { assistants } };
  for (const id of [undefined, "default", "support"]) {
    const found = await chooseAssistant(request as unknown as AuthorisedRequest, id);
    if (found.ok) throw new Error("an assistant stands in");
    expect(found.failure.status).toBe(503);
    expect(found.failure.headers.get("retry-after")).toBe("1");
    expect(await found.failure.json()).toMatchObject({ code: "assistant_unavailable" });
  }
});
