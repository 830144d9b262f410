import { expect, test } from "vitest";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";
import { benchFor, endOf } from "../../../src/testing/fakes/runner-ports.ts";
import { allowing } from "../refused-call.ts";
import { noteTool } from "../../shared/tools.ts";

test("the permission check requires the scopes of the contract and of the policy", async () => {
  const { tool } = noteTool({ security: { requiredScopes: ["notes:write"] } });
  const policy = { allowedTools: [{ id: "test__note", scopes: ["staff"] }] };
  const { call, questions } = benchFor([tool], { policy });
  await call("test__note", { text: "hi" });
  expect(questions.map(({ requiredScopes }) => requiredScopes)).toEqual([["notes:write", "staff"]]);
});

test("a connection is bound for one invocation, and the tool cannot choose another connection", async () => {
  const seen: unknown[] = [];
  const bound: unknown[] = [];
  const { tool } = noteTool({
    requiresConnection: true,
    capabilities: ["auth"],
    async execute(
      _args: unknown,
      context: object,
      { auth }: { auth: Record<string, () => unknown> },
    ) {
      seen.push(context, await auth["getAccessToken"]?.());
      return ok({ text: "done" });
    },
  });
  const { call } = benchFor([tool], {
    policy: allowing({ grants: [{ connectionId: "mail", tools: ["test__note"] }] }),
    connectionIds: ["mail", "other"] as never,
    broker: {
      bind(...names) {
        bound.push(names);
        return Promise.resolve(
          ok({
            auth: {
              getAccessToken: () => Promise.resolve("s3cret"),
              getAuthHeaders: () => Promise.resolve({}),
            },
            secrets: ["s3cret"],
          }),
        );
      },
    },
  });
  const result = await call("test__note", { text: "hi" });
  expect(result.ok).toBe(true);
  const use = { signal: expect.any(AbortSignal), call: expect.objectContaining({ step: 1 }) };
  expect(bound).toEqual([["acme", "mail", use]]);
  expect(seen).toEqual([expect.objectContaining({ connectionId: "mail" }), "s3cret"]);
  expect(JSON.stringify(result)).not.toContain("s3cret");
});

test.each([
  ["two connections are granted and requested", ["mail", "other"], "connection_ambiguous"],
  ["the caller may not use the connection", ["mail"], "no_permission"],
])("a call that requires a connection is refused when %s", async (_name, granted, code) => {
  const { tool, reached } = noteTool({ requiresConnection: true, capabilities: ["auth"] });
  const grants = granted.map((connectionId) => ({ connectionId, tools: ["test__note"] }));
  const bound: unknown[] = [];
  const { call } = benchFor([tool], {
    policy: allowing({ grants }),
    connectionIds: ["mail", "other"] as never,
    authorizationOf: () => ({
      check: async ({ action }) => (action === "connection.use" ? "no_permission" : "allow"),
    }),
    broker: {
      bind: async (...names) => (bound.push(names), ok({ auth: {}, secrets: [] }) as never),
    },
  });
  expect(endOf(await call("test__note", { text: "hi" }))).toEqual(["PERMISSION_DENIED", code]);
  expect([reached, bound]).toEqual([[], []]);
});

test.each([
  ["unknown_connection", "PERMISSION_DENIED", false],
  ["unreadable_connection", "DEPENDENCY_UNAVAILABLE", true],
] as const)("the broker's answer %s ends the call before it runs", async (code, end, retryable) => {
  const { tool, reached } = noteTool({ requiresConnection: true, capabilities: ["auth"] });
  const { call } = benchFor([tool], {
    policy: {
      allowedTools: ["test__note"],
      grants: [{ connectionId: "mail", tools: ["test__note"] }],
    },
    connectionIds: ["mail"] as never,
    broker: { bind: () => Promise.resolve(fail({ code })) },
  });
  const result = await call("test__note", { text: "hi" });
  expect(endOf(result)).toEqual([end, code]);
  expect(result.response).toMatchObject({ retryable, escalate: false });
  expect(reached).toEqual([]);
});
