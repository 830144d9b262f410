import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createPolicyAuthorization } from "../../../src/adapters/policy/policy-authorization.ts";
import type { AuthorizationRequest } from "../../../src/capabilities/identity.ts";
import type { ActorId, TenantId } from "../../../src/protocol/identity/ids.ts";
import { policyOf } from "../../../src/testing/fakes/fakes.ts";

const actor = (id: string): ActorId => id as ActorId;
const question: AuthorizationRequest = {
  tenantId: "acme" as TenantId,
  actorId: actor("agent:desk"),
  scopes: ["chat", "crm:read"],
  action: "tool.execute",
  resource: "crm__read",
  toolId: "crm__read",
  requiredScopes: ["crm:read"],
};
const forAnn = { ...question, subjectId: actor("user:ann") };
const delegation = { actorId: "agent:desk", subjectId: "user:ann", tools: ["crm__read"] };

function ask(asked: AuthorizationRequest, delegations: object[] = []): Promise<string> {
  const policy = policyOf({ allowedTools: [], delegations });
  return createPolicyAuthorization(policy).check(asked);
}

test("allows who holds every scope", async () => {
  expect(await ask(question)).toBe("allow");
  expect(await ask({ ...question, requiredScopes: [] })).toBe("allow");
  expect(await ask({ ...question, requiredScopes: ["chat", "crm:read"] })).toBe("allow");
});

test("refuses who lacks one scope, whatever is delegated", async () => {
  const requiredScopes = ["crm:read", "crm:write"];
  expect(await ask({ ...question, requiredScopes })).toBe("no_permission");
  expect(await ask({ ...forAnn, requiredScopes }, [delegation])).toBe("no_permission");
});

describe.each([
  { action: "tool.execute", resource: "crm__read" },
  { action: "connection.use", resource: "crm" },
] as const)("for someone else, $action", (what) => {
  test("accepts a delegation of this tool to this actor by this subject", async () => {
    expect(await ask({ ...forAnn, ...what }, [delegation])).toBe("allow");
  });

  test.each([
    ["without any", []],
    ["of another tool", [{ ...delegation, tools: ["crm__write"] }]],
    ["of no tool", [{ ...delegation, tools: [] }]],
    ["to another actor", [{ ...delegation, actorId: "agent:other" }]],
    ["by another subject", [{ ...delegation, subjectId: "user:bob" }]],
    ["the other way round", [{ ...delegation, actorId: "user:ann", subjectId: "agent:desk" }]],
    [
      "in two halves",
      [
        { ...delegation, tools: ["crm__write"] },
        { ...delegation, subjectId: "user:bob" },
      ],
    ],
  ])("is refused %s", async (_name, delegations) => {
    expect(await ask({ ...forAnn, ...what }, delegations)).toBe("no_delegation");
  });
});

test("a delegation that names the connection in place of a tool gives nothing", async () => {
  const use = { ...forAnn, action: "connection.use", resource: "crm" } as const;
  expect(await ask(use, [{ ...delegation, tools: ["crm"] }])).toBe("no_delegation");
});

test("a person needs no delegation for themself", async () => {
  expect(await ask({ ...question, subjectId: question.actorId })).toBe("allow");
});

test("allows exactly when scopes and delegation both do", async () => {
  const name = fc.constantFrom("a", "b", "c");
  const names = fc.array(name, { maxLength: 3 });
  const delegations = fc.array(fc.record({ actorId: name, subjectId: name, tools: names }));
  const asked = fc.record(
    { actorId: name, subjectId: name, scopes: names, requiredScopes: names, toolId: name },
    { requiredKeys: ["actorId", "scopes", "requiredScopes", "toolId"] },
  );
  await fc.assert(
    fc.asyncProperty(asked, delegations, async (who, given) => {
      const answer = await ask({ ...question, ...who } as unknown as AuthorizationRequest, given);
      const isPermitted = who.requiredScopes.every((scope) => who.scopes.includes(scope));
      const isAlone = who.subjectId === undefined || who.subjectId === who.actorId;
      const isDelegated = given.some(
        ({ actorId, subjectId, tools }) =>
          actorId === who.actorId && subjectId === who.subjectId && tools.includes(who.toolId),
      );
      expect(answer === "allow").toBe(isPermitted && (isAlone || isDelegated));
    }),
  );
});
