import { beforeAll, describe, expect, test } from "vitest";
import type { ApprovalSummary } from "../../src/protocol/approval-view.ts";
import { refusalOf } from "../suites/run-object.ts";
import { approvalNotice, isoAt, tenantOf } from "../suites/tenant-notices.ts";
import { send, type Caller } from "../suites/worker.ts";

const TENANT = "archive";
const ask = (query: string, caller: Caller = "archive"): Promise<Response> =>
  send(`/v1/approvals${query}`, { caller });
async function list(query = "", caller: Caller = "archive"): Promise<readonly string[]> {
  const response = await ask(query, caller);
  if (response.status !== 200) throw new Error(await response.text());
  const { approvals } = await response.json<{ approvals: readonly ApprovalSummary[] }>();
  return approvals.map(({ approvalId }) => approvalId.replace("appr_", ""));
}

const HOUR = 3_600_000;
const consent = {
  pattern: "user_consent",
  roles: [],
  excludesRequester: false,
  onlyRequester: true,
} as const;
const QUESTIONS: Readonly<Record<string, Partial<ApprovalSummary>>> = {
  annsReview: { expiresAt: isoAt(3 * HOUR), requestedAt: isoAt(-4 * HOUR) },
  bobsReview: {
    requestedBy: "user:bob" as never,
    expiresAt: isoAt(2 * HOUR),
    requestedAt: isoAt(-3 * HOUR),
  },
  annsConsent: { ...consent, expiresAt: isoAt(HOUR), requestedAt: isoAt(-2 * HOUR) },
  bobsConsent: {
    ...consent,
    requestedBy: "user:bob" as never,
    expiresAt: isoAt(4 * HOUR),
    requestedAt: isoAt(-5 * HOUR),
  },
  compliance: {
    pattern: "compliance",
    roles: ["compliance"],
    toolId: "lab__pay" as never,
    expiresAt: isoAt(5 * HOUR),
    requestedAt: isoAt(-HOUR),
  },
  approved: { status: "approved" },
  rejected: { status: "rejected" },
  late: { expiresAt: isoAt(-HOUR) },
  expired: { status: "expired", expiresAt: isoAt(-2 * HOUR) },
};

beforeAll(async () => {
  const sent = Object.entries(QUESTIONS).map(([name, question], index) =>
    approvalNotice(index + 1, { ...question, approvalId: `appr_${name}` as never }),
  );
  await tenantOf(TENANT).receive("run_asks" as never, sent);
});

test("shows what is pending, what expires first first", async () => {
  expect(await list()).toEqual([
    "annsConsent",
    "bobsReview",
    "annsReview",
    "bobsConsent",
    "compliance",
  ]);
});

test("shows the newest first when asked to", async () => {
  expect(await list("?sort=newest")).toEqual([
    "compliance",
    "annsConsent",
    "bobsReview",
    "annsReview",
    "bobsConsent",
  ]);
});

// Mutant: a status that is what the run last said.
test("what is over in time is expired, whether its run has said so or not", async () => {
  expect(await list("?status=expired")).toEqual(["expired", "late"]);
  const answer = await ask("?status=expired");
  const { approvals } = await answer.json<{ approvals: readonly ApprovalSummary[] }>();
  expect(approvals.map(({ status }) => status)).toEqual(["expired", "expired"]);
  expect(await list("?status=approved")).toEqual(["approved"]);
});

describe("who sees what", () => {
  // Mutants: a viewer that is not asked for; roles that are not compared; requesters that are not left out.
  test.each<[Caller, string, readonly string[]]>([
    ["ann", "", ["annsConsent", "annsReview", "compliance"]],
    ["ann", "?mine=true", ["annsConsent", "annsReview", "compliance"]],
    ["ann", "?decidable=true", ["annsConsent"]],
    ["annsAgent", "?mine=true", ["annsConsent", "annsReview", "compliance"]],
    ["bob", "", ["bobsReview", "annsReview", "bobsConsent"]],
    ["bob", "?decidable=true", ["annsReview", "bobsConsent"]],
    ["bob", "?decidable=true&mine=true", ["bobsConsent"]],
    ["agent", "", []],
    ["archive", "?decidable=true", []],
    ["archive", "?mine=true", []],
    ["stranger", "", []],
    ["ann", "?status=approved", ["approved"]],
    ["ann", "?status=approved&decidable=true", []],
    ["bob", "?status=approved", ["approved"]],
    ["agent", "?status=approved", []],
  ])("%s with %j", async (caller, query, expected) => {
    expect(await list(query, caller)).toEqual(expected);
  });
});

test.each([
  ["?pattern=compliance", ["compliance"]],
  ["?tool=lab__pay", ["compliance"]],
  ["?tool=lab__nothing", []],
  ["?pattern=user_consent&sort=newest", ["annsConsent", "bobsConsent"]],
])("filters by %s", async (query, expected) => {
  expect(await list(query)).toEqual(expected);
});

test.each(["expiry", "newest"])("pages by %s hold everything once", async (sort) => {
  const seen: string[] = [];
  let cursor = "";
  for (let turn = 0; turn < 9; turn++) {
    const answer = await ask(`?limit=2&sort=${sort}${cursor}`);
    const page = await answer.json<{ approvals: readonly ApprovalSummary[]; next?: string }>();
    seen.push(...page.approvals.map(({ approvalId }) => approvalId.replace("appr_", "")));
    if (page.next === undefined) break;
    cursor = `&cursor=${page.next}`;
  }
  expect(seen).toEqual(await list(`?sort=${sort}`));
});

test("a cursor does not change hands, lists or filters", async () => {
  const { next } = await (await ask("?limit=1")).json<{ next: string }>();
  for (const [query, caller] of [
    ["?", "ann"],
    ["?sort=newest&", "archive"],
    ["?mine=true&", "archive"],
    ["?", "stranger"],
  ] as const) {
    const answer = await ask(`${query}cursor=${next}`, caller);
    expect(await refusalOf(answer)).toEqual([400, "cursor_invalid"]);
  }
});

test.each([
  "?status=open",
  "?mine=1",
  "?mine=",
  "?sort=age",
  "?pattern=x",
  "?limit=0",
  "?role=operator",
])("refuses %s", async (query) => {
  expect(await refusalOf(await ask(query))).toEqual([400, "query_invalid"]);
});

test("needs its scope", async () => {
  expect(await refusalOf(await ask("", "acme"))).toEqual([403, "insufficient_scope"]);
});
