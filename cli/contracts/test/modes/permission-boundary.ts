import type { ActorId, ConnectionId, TenantId } from "../../../../src/protocol/identity/ids.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { ACME, endOf } from "../../../../src/testing/fakes/runner-ports.ts";
import type { Subject } from "../subject.ts";
import type { Checks, TestMode } from "../test-mode.ts";
import { CONNECTION, openTrial, type TrialSettings } from "../trial.ts";

const STRANGER = "user:stranger" as ActorId;
const ELSEWHERE = "elsewhere" as TenantId;
const POLICY_SCOPE = "harness:demanded-by-policy";

/** A caller without scope, policy, delegation or connection does not reach the tool. */
export const permissionBoundary: TestMode = {
  id: "permission",
  name: "Permission Boundary",
  async run(subject, checks) {
    const { name, version, security, requiresConnection } = subject.contract;
    const entry = { id: name, versions: [version] };
    const scopes = [...new Set(security.requiredScopes)];
    await admits("a caller with every scope is let through", { principal: { scopes } });
    for (const dropped of scopes) {
      const held = scopes.filter((scope) => scope !== dropped);
      await denies("a caller without one of its scopes is denied", {
        principal: { scopes: [...held, `${dropped}x`] },
      });
    }
    const demanding = { allowedTools: [{ ...entry, scopes: [POLICY_SCOPE] }] };
    await denies("a caller without a scope that policy demands is denied", { policy: demanding });
    await admits("a caller with the scope that policy demands is let through", {
      policy: demanding,
      principal: { scopes: [...scopes, POLICY_SCOPE] },
    });
    await denies("acting for another person takes a delegation", {
      principal: { subjectId: STRANGER },
    });
    await checkTenants(subject, checks);
    if (requiresConnection) await checkConnections(subject, checks);
    return undefined;

    function denies(rule: string, settings: TrialSettings): Promise<void> {
      return expectEnd(subject, checks, { rule, settings, end: "PERMISSION_DENIED" });
    }
    function admits(rule: string, settings: TrialSettings): Promise<void> {
      return expectEnd(subject, checks, { rule, settings, end: "SUCCESS" });
    }
  },
};

async function checkTenants(subject: Subject, checks: Checks): Promise<void> {
  await expectEnd(subject, checks, {
    rule: "a tenant without a policy is refused",
    settings: { policy: { allowedTools: [] }, ports: { pin: undefined } },
    end: "POLICY_VIOLATION",
  });
  await expectEnd(subject, checks, {
    rule: "a policy that allows other versions alone refuses this one",
    settings: { policy: { allowedTools: [{ id: subject.contract.name, versions: ["0.0.0"] }] } },
    end: "POLICY_VIOLATION",
  });
  if (subject.contract.workspace !== undefined) {
    await expectEnd(subject, checks, {
      rule: "a caller who is no member of the workspace is denied",
      settings: { policy: { workspaces: {} } },
      end: "PERMISSION_DENIED",
    });
  }
  const { call, started } = openTrial(subject, { answer: () => ok(subject.outputs[0]) });
  await call(subject.validArgs[0]);
  const tenants = started.map(({ context }) => context.tenantId);
  checks.that("the tool is told the caller's own tenant", tenants[0] === ACME, tenants);
}

async function checkConnections(subject: Subject, checks: Checks): Promise<void> {
  const { name } = subject.contract;
  const denied: readonly (readonly [string, TrialSettings])[] = [
    ["a connection that is not granted is denied", { policy: { grants: [] } }],
    [
      "a connection that is granted to another tool is denied",
      { policy: { grants: [{ connectionId: CONNECTION, tools: [`${name}x`] }] } },
    ],
    [
      "a connection that is granted to another actor is denied",
      { policy: { grants: [{ connectionId: CONNECTION, tools: [name], actors: [STRANGER] }] } },
    ],
    ["a connection that the request does not name is denied", { ports: { connectionIds: [] } }],
    [
      "a connection that the request only makes up is denied",
      { ports: { connectionIds: ["con_made_up" as ConnectionId] } },
    ],
    ["a connection of another tenant is denied", { principal: { tenantId: ELSEWHERE } }],
  ];
  for (const [rule, settings] of denied) {
    await expectEnd(subject, checks, { rule, settings, end: "PERMISSION_DENIED" });
  }
}

async function expectEnd(
  subject: Subject,
  checks: Checks,
  {
    rule,
    settings,
    end,
  }: { readonly rule: string; readonly settings: TrialSettings; readonly end: string },
): Promise<void> {
  const answer = (): unknown => ok(subject.outputs[0]);
  const { call, started } = openTrial(subject, { answer, ...settings });
  const result = await call(subject.validArgs[0]);
  const [seen] = endOf(result);
  const ran = end === "SUCCESS" ? 1 : 0;
  checks.that(rule, seen === end && started.length === ran, endOf(result));
}
