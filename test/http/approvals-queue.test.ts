import { beforeAll, describe, expect, test } from "vitest";
import { PATTERN_DEFAULTS } from "../../src/protocol/approval/requirement.ts";
import type { ApprovalSummary } from "../../src/protocol/approval/view.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { verifyChain } from "../../cli/audit/verify-chain.ts";
import { APPROVE, askToPay, decide, ended, REJECT } from "../shared/people.ts";
import { cancel, refusalOf } from "../shared/run-object.ts";
import { approvalNotice, auditOf, isoAt, runNotice, tenantOf } from "../shared/tenant-notices.ts";
import { seedPolicies, send, type Caller } from "../shared/worker.ts";

const TENANT = "archive";
const ask = (query: string, caller: Caller = "archive"): Promise<Response> =>
  send(`/v1/approvals${query}`, { caller });
async function list(query = "", caller: Caller = "archive"): Promise<readonly string[]> {
  const response = await ask(query, caller);
  if (response.status !== 200) throw new Error(await response.text());
  const { approvals } = await response.json<{ approvals: readonly ApprovalSummary[] }>();
  return approvals.map(({ approvalId }) => approvalId.replace("appr_", ""));
}

interface RefusedVotes {
  readonly records: readonly { readonly entry: AuditEntry }[];
}

const HOUR = 3_600_000;
const consent = { requirements: [{ ...PATTERN_DEFAULTS.user_consent, approvals: 0 }] };
const QUESTIONS: Readonly<Record<string, Partial<ApprovalSummary>>> = {
  mirasReview: { expiresAt: isoAt(3 * HOUR), requestedAt: isoAt(-4 * HOUR) },
  noorsReview: {
    requestedBy: "user:noor" as never,
    expiresAt: isoAt(2 * HOUR),
    requestedAt: isoAt(-3 * HOUR),
  },
  mirasConsent: { ...consent, expiresAt: isoAt(HOUR), requestedAt: isoAt(-2 * HOUR) },
  noorsConsent: {
    ...consent,
    requestedBy: "user:noor" as never,
    expiresAt: isoAt(4 * HOUR),
    requestedAt: isoAt(-5 * HOUR),
  },
  compliance: {
    requirements: [{ ...PATTERN_DEFAULTS.compliance, approvals: 0 }],
    toolId: "lab__pay" as never,
    expiresAt: isoAt(5 * HOUR),
    requestedAt: isoAt(-HOUR),
  },
  approved: { status: "approved" },
  bobsReview: { status: "withdrawn", requestedBy: "user:bob" as never },
  bobsOfNoor: {
    status: "withdrawn",
    requestedBy: "user:bob" as never,
    actorId: "user:noor" as never,
  },
  bobsOnPage: {
    status: "withdrawn",
    requestedBy: "user:bob" as never,
    minterId: "user:Noor" as never,
  },
  rejected: { status: "rejected" },
  late: { expiresAt: isoAt(-HOUR) },
  expired: { status: "expired", expiresAt: isoAt(-2 * HOUR) },
};

beforeAll(async () => {
  const sent = Object.entries(QUESTIONS).map(([name, question], index) =>
    approvalNotice(index + 1, { ...question, approvalId: `appr_${name}` as never }),
  );
  const run = runNotice(sent.length + 1, { assistantId: "support" });
  await tenantOf(TENANT).receive("run_asks" as never, [...sent, run]);
});

test("shows what is pending, what expires first first", async () => {
  expect(await list()).toEqual([
    "mirasConsent",
    "noorsReview",
    "mirasReview",
    "noorsConsent",
    "compliance",
  ]);
});

test("shows the newest first when asked to", async () => {
  expect(await list("?sort=newest")).toEqual([
    "compliance",
    "mirasConsent",
    "noorsReview",
    "mirasReview",
    "noorsConsent",
  ]);
});

test("what is over in time is expired, whether its run has said so or not", async () => {
  expect(await list("?status=expired")).toEqual(["expired", "late"]);
  const answer = await ask("?status=expired");
  const { approvals } = await answer.json<{ approvals: readonly ApprovalSummary[] }>();
  expect(approvals.map(({ status }) => status)).toEqual(["expired", "expired"]);
  expect(await list("?status=approved")).toEqual(["approved"]);
});

describe("who sees what", () => {
  test.each<[Caller, string, readonly string[]]>([
    ["mira", "", ["mirasConsent", "mirasReview", "compliance"]],
    ["mira", "?mine=true", ["mirasConsent", "mirasReview", "compliance"]],
    ["mira", "?decidable=true", ["mirasConsent"]],
    ["mirasAgent", "?mine=true", []],
    ["noor", "", ["noorsReview", "mirasReview", "noorsConsent"]],
    ["noor", "?decidable=true", ["mirasReview", "noorsConsent"]],
    ["noor", "?decidable=true&mine=true", ["noorsConsent"]],
    ["noor", "?person=user:mira&assistant=support", ["mirasReview"]],
    ["mira", "?person=user:noor", []],
    ["helper", "", []],
    ["sentry", "", []],
    ["sentry", "?decidable=true", []],
    ["archive", "?decidable=true", []],
    ["archive", "?mine=true", []],
    ["stranger", "", []],
    ["mira", "?status=approved", ["approved"]],
    ["mira", "?status=approved&decidable=true", []],
    ["noor", "?status=approved", ["approved"]],
    ["helper", "?status=approved", []],
    ["noor", "?status=withdrawn", ["bobsReview"]],
  ])("%s with %j", async (caller, query, expected) => {
    expect(await list(query, caller)).toEqual(expected);
  });
});

test.each([
  ["?pattern=compliance", ["compliance"]],
  ["?tool=lab__pay", ["compliance"]],
  ["?tool=lab__nothing", []],
  ["?pattern=user_consent&sort=newest", ["mirasConsent", "noorsConsent"]],
  ["?person=user:noor", ["noorsReview", "noorsConsent"]],
  ["?person=user:noor&pattern=user_consent", ["noorsConsent"]],
  [
    "?assistant=support&person=user:mira&sort=newest",
    ["compliance", "mirasConsent", "mirasReview"],
  ],
  ["?assistant=sales", []],
])("filters by %s", async (query, expected) => {
  expect(await list(query)).toEqual(expected);
});

test("a person and an assistant of another tenant answer as unknown ones", async () => {
  const other = approvalNotice(1, { requestedBy: "user:zoe" as never });
  const run = runNotice(2, { assistantId: "rivals" });
  await tenantOf("rival").receive("run_theirs" as never, [other, run]);
  for (const [theirs, unknown] of [
    ["?person=user:zoe", "?person=user:nobody"],
    ["?assistant=rivals", "?assistant=nothing"],
  ] as const) {
    expect(await (await ask(theirs)).text()).toBe(await (await ask(unknown)).text());
  }
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
    ["?", "mira"],
    ["?sort=newest&", "archive"],
    ["?mine=true&", "archive"],
    ["?person=user:mira&", "archive"],
    ["?assistant=support&", "archive"],
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
  "?person=",
  "?person=user:mira&person=user:noor",
  `?assistant=${"x".repeat(300)}`,
])("refuses %s", async (query) => {
  expect(await refusalOf(await ask(query))).toEqual([400, "query_invalid"]);
});

test("needs its scope", async () => {
  expect(await refusalOf(await ask("", "acme"))).toEqual([403, "insufficient_scope"]);
});

describe("a real question", () => {
  beforeAll(seedPolicies);
  const inGuild = async (query: string): Promise<readonly ApprovalSummary[]> => {
    const answer = await ask(query, "chief");
    return (await answer.json<{ approvals: readonly ApprovalSummary[] }>()).approvals;
  };
  const find = async (approvalId: string, status = "pending") =>
    (await inGuild(`?limit=100&status=${status}`)).find((known) => known.approvalId === approvalId);
  const actionsOf = async (approvalId: string): Promise<readonly unknown[]> => {
    const { items } = await auditOf("guild");
    return items
      .filter(({ entry }) => entry.approvalId === approvalId)
      .map(({ entry: { action, actorId, decision } }) => [action, actorId, decision]);
  };

  test("comes to the queue, counts its votes there, leaves it, and is recorded step by step", async () => {
    const { runId, approvalId, response } = await askToPay();
    await expect.poll(() => find(approvalId)).toMatchObject({ approvals: 0, runId });
    await decide(approvalId, "bob", APPROVE);
    await expect.poll(() => find(approvalId)).toMatchObject({ approvals: 1 });
    await decide(approvalId, "cat", APPROVE);
    await response.body?.cancel();
    await ended(runId);
    await expect.poll(() => find(approvalId, "approved")).toMatchObject({ approvals: 2 });
    expect(await find(approvalId)).toBeUndefined();
    await expect
      .poll(() => actionsOf(approvalId))
      .toEqual([
        ["approval.requested", "user:ann", "dual_control"],
        ["approval.voted", "user:bob", "approve"],
        ["approval.voted", "user:cat", "approve"],
        ["approval.closed", undefined, "approved"],
        ["approval.consumed", undefined, undefined],
      ]);
  });

  test("is recorded with each refused vote: one's own, a stranger's, a late one; repeats are counted", async () => {
    const { runId, approvalId, response } = await askToPay({ amount: 45 });
    for (let vote = 0; vote < 5; vote++) {
      expect((await decide(approvalId, "ann", APPROVE)).status).toBe(403);
    }
    expect((await decide(approvalId, "dan", APPROVE)).status).toBe(404);
    expect((await decide(approvalId, "chief", APPROVE)).status).toBe(403);
    await decide(approvalId, "bob", REJECT);
    await response.body?.cancel();
    await ended(runId);
    expect((await decide(approvalId, "cat", APPROVE)).status).toBe(409);
    const refused = async (): Promise<readonly unknown[]> => {
      const query = `/v1/audit?action=approval.refused&run=${runId}`;
      const read = await (await send(query, { caller: "chief" })).json<RefusedVotes>();
      return read.records.map(({ entry }) => [
        entry.approvalId,
        entry.actorId,
        entry.reason,
        entry.count ?? 1,
      ]);
    };
    const own = [approvalId, "user:ann", "own_request", 1];
    const recorded = [
      own,
      own,
      own,
      [approvalId, "user:ann", "own_request", 2],
      [approvalId, "user:dan", "not_an_approver", 1],
      [approvalId, "user:chief", "role_missing", 1],
      [approvalId, "user:cat", "approval_closed", 1],
    ];
    const inOrder = (votes: readonly unknown[]) =>
      votes.map((vote) => JSON.stringify(vote)).toSorted();
    await expect.poll(async () => inOrder(await refused())).toEqual(inOrder(recorded));
  });

  test("that is refused is closed and never taken", async () => {
    const { runId, approvalId, response } = await askToPay({ amount: 41 });
    await decide(approvalId, "bob", { ...REJECT, reason: "too much" });
    await response.body?.cancel();
    await ended(runId);
    await expect.poll(() => find(approvalId, "rejected")).toBeDefined();
    await expect
      .poll(() => actionsOf(approvalId))
      .toEqual([
        ["approval.requested", "user:ann", "dual_control"],
        ["approval.voted", "user:bob", "reject"],
        ["approval.closed", undefined, "rejected"],
      ]);
  });

  test("whose run is cancelled is withdrawn, by whom is recorded, and the whole chain holds", async () => {
    const { runId, approvalId, response } = await askToPay({ amount: 42 });
    await Promise.all([cancel(runId, "chief"), cancel(runId, "ann")]);
    await cancel(runId, "ann");
    const query = `/v1/audit?action=run.cancelled&run=${runId}`;
    const read = async (): Promise<unknown> => (await send(query, { caller: "chief" })).json();
    const records = [{ entry: { actorId: "user:chief" } }];
    await expect.poll(read).toMatchObject({ records });
    await response.body?.cancel();
    await expect.poll(() => find(approvalId, "withdrawn")).toBeDefined();
    const text = await (await send("/v1/audit?format=jsonl", { caller: "chief" })).text();
    async function* lines(): AsyncGenerator<string> {
      yield* text.trimEnd().split("\n");
    }
    expect(await verifyChain(lines(), {})).toMatchObject({ kind: "whole" });
  });

  test("that is edited makes way for another one about the new arguments", async () => {
    const { runId, approvalId, response } = await askToPay({ amount: 43 });
    await decide(approvalId, "bob", { ...APPROVE, arguments: { to: "bakery", amount: 44 } });
    await response.body?.cancel();
    await expect.poll(() => find(approvalId, "superseded")).toHaveProperty("supersededBy");
    const next = (await find(approvalId, "superseded"))?.supersededBy ?? "";
    await expect.poll(() => find(next)).toMatchObject({ approvals: 1 });
    await expect
      .poll(() => actionsOf(next))
      .toEqual([
        ["approval.requested", "user:ann", "dual_control"],
        ["approval.voted", "user:bob", "approve"],
      ]);
    expect(await actionsOf(approvalId)).toEqual([
      ["approval.requested", "user:ann", "dual_control"],
      ["approval.edited", "user:bob", undefined],
    ]);
    await cancel(runId, "ann");
  });
});
