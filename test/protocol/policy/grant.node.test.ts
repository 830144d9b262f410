import * as fc from "fast-check";
import { expect, test } from "vitest";
import { effectiveConnections, type GrantQuestion } from "../../../src/protocol/policy/grant.ts";
import type { ConnectionId } from "../../../src/protocol/identity/ids.ts";

const NOW = Date.UTC(2026, 0, 2);
const at = (ms: number): string => new Date(ms).toISOString();
const ids = (...names: string[]): ConnectionId[] => names as ConnectionId[];
const grant = { connectionId: "crm", tools: ["crm__read"] };
const ask = (question: Partial<GrantQuestion>): readonly string[] =>
  effectiveConnections({
    grants: [grant],
    requested: ids("crm"),
    toolId: "crm__read",
    actorId: "user:ann",
    nowMs: NOW,
    ...question,
  });

test("answers what is granted and requested", () => {
  expect(ask({})).toEqual(["crm"]);
});

const refused: readonly [name: string, question: Partial<GrantQuestion>][] = [
  ["a request that names no connections", { requested: undefined }],
  ["a request that names none of the granted", { requested: ids("mail") }],
  ["a connection that nothing grants", { grants: [] }],
  ["a grant for another tool", { toolId: "crm__write" }],
  ["a grant for a tool whose name only begins alike", { toolId: "crm__rea" }],
  ["a grant for other actors", { grants: [{ ...grant, actors: ["user:bob"] }] }],
  ["a grant for no actors", { grants: [{ ...grant, actors: [] }] }],
  ["a grant that expires now", { grants: [{ ...grant, expiresAt: at(NOW) }] }],
  ["a grant that expired", { grants: [{ ...grant, expiresAt: at(NOW - 1) }] }],
  ["a grant with an expiry that nobody can read", { grants: [{ ...grant, expiresAt: "soon" }] }],
];
test.each(refused)("answers nothing for %s", (_name, question) => {
  expect(ask(question)).toEqual([]);
});

test("a grant may name the actor, and lasts until it expires", () => {
  const grants = [{ ...grant, actors: ["user:ann"], expiresAt: at(NOW + 1) }];
  expect(ask({ grants })).toEqual(["crm"]);
});

test("an expired grant does not weaken a valid one", () => {
  expect(ask({ grants: [{ ...grant, expiresAt: at(NOW - 1) }, grant] })).toEqual(["crm"]);
});

test("names every connection once and in one order, however grants and request are ordered", () => {
  const grants = [{ ...grant, connectionId: "mail" }, grant, grant];
  expect(ask({ grants, requested: ids("mail", "crm", "mail") })).toEqual(["crm", "mail"]);
});

const name = fc.constantFrom("a", "b", "c", "d");
const grants = fc.array(
  fc.record(
    {
      connectionId: name,
      tools: fc.array(name, { maxLength: 3 }),
      actors: fc.array(name, { maxLength: 3 }),
      expiresAt: fc.constantFrom(at(NOW - 1), at(NOW + 1), "never"),
    },
    { requiredKeys: ["connectionId", "tools"] },
  ),
  { maxLength: 6 },
);
const question = fc.record({
  grants,
  requested: fc.option(fc.array(name.map((id) => id as ConnectionId)), { nil: undefined }),
  toolId: name,
  actorId: name,
  nowMs: fc.constant(NOW),
});

test("the answer is a subset of both, and fewer grants never give more", () => {
  fc.assert(
    fc.property(question, (asked) => {
      const answer = effectiveConnections(asked);
      const granted: readonly string[] = asked.grants
        .filter(({ tools }) => tools.includes(asked.toolId))
        .map(({ connectionId }) => connectionId);
      for (const id of answer) {
        expect(granted).toContain(id);
        expect(asked.requested).toContain(id);
      }
      const fewer = effectiveConnections({ ...asked, grants: asked.grants.slice(1) });
      for (const id of fewer) expect(answer).toContain(id);
    }),
  );
});
