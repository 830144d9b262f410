import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { SentNotice } from "../../src/capabilities/tenant.ts";
import type { Escalation } from "../../src/protocol/escalation/escalation.ts";
import type { NotificationBody } from "../../src/protocol/notification/notification.ts";
import { respond, type DispatchState } from "../../src/protocol/outcome/response-vector.ts";
import { invoke, read } from "../shared/invoke.ts";
import { storeReceiver, TOLD, untilReceived } from "../shared/notifications.ts";
import { askToPay, decide, REJECT } from "../shared/people.ts";
import {
  changeInvocation,
  crash,
  refusalOf,
  ring,
  tellOutcome,
  untilState,
} from "../shared/run-object.ts";
import { sampleOfGroups } from "../shared/sample.ts";
import { auditNotice, auditOf, runNotice, tell, tenantRows } from "../shared/tenant-notices.ts";
import {
  chat,
  govern,
  runIdOf,
  seedPolicies,
  send,
  stateOf,
  type Caller,
} from "../shared/worker.ts";
import { failed, FAILURE_CLASSES } from "../workers/lab-failures.ts";
import { library } from "../workers/lab-library.ts";
import { effects } from "../workers/lab-tools.ts";
import { readers } from "../workers/lab-verification.ts";
import { written } from "../workers/lab-writes.ts";

type Listed = Escalation & { readonly actions: readonly string[]; readonly href?: string };

const DISPATCHED = { dispatched: true, repairEnded: false };
const FAILING = ["lab__fail_read", "lab__fail_write", "lab__fail_keyed"];

beforeAll(async () => {
  await seedPolicies();
  await storeReceiver("/ok");
  await govern({
    ...TOLD,
    allowedTools: [...FAILING, "lab__send_mail", "lab__file", "lab__lend_book", "lab__return_book"],
    argumentRules: [
      { tool: "lab__send_mail", field: "/to", must: { endWithOneOf: ["@own.example"] } },
      { tool: "lab__file", field: "/what", must: { endWithOneOf: ["@own.example"] } },
    ],
  });
});
beforeEach(() => {
  failed.length = 0;
  written.length = 0;
  library.fault = undefined;
});

async function listOf(query: string, caller: Caller): Promise<readonly Listed[]> {
  const seen: Listed[] = [];
  let cursor = "";
  do {
    const response = await send(`/v1/escalations?limit=100${query}${cursor}`, { caller });
    expect(response.status).toBe(200);
    const page = await response.json<{ escalations: readonly Listed[]; next?: string }>();
    seen.push(...page.escalations);
    cursor = page.next === undefined ? "" : `&cursor=${encodeURIComponent(page.next)}`;
  } while (cursor !== "");
  return seen;
}

/** Waits until the list names so many escalations of a run. */
async function untilListed(
  runId: string,
  count: number,
  { query = "", caller = "lab" }: { readonly query?: string; readonly caller?: Caller } = {},
): Promise<readonly Listed[]> {
  const own = async () => (await listOf(query, caller)).filter((one) => one.runId === runId);
  await expect.poll(async () => (await own()).length).toBe(count);
  return own();
}

function act(id: string, body: object, caller: Caller = "lab"): Promise<Response> {
  return send(`/v1/escalations/${id}`, {
    caller,
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

/** The actions about escalations that the audit log has of a run. */
async function auditedOf(runId: string, tenant = "lab"): Promise<readonly string[]> {
  const actions = await actionsOf(runId, tenant);
  return actions.filter((action) => action.startsWith("escalation."));
}

async function actionsOf(runId: string, tenant: string): Promise<readonly string[]> {
  const { items } = await auditOf(tenant);
  return items.flatMap(({ entry }) => (entry.runId === runId ? [entry.action] : []));
}

/** Tells of a call whose output broke the contract of its tool. */
function broken(seq: number, more: object = {}): SentNotice {
  const fact = { action: "call.ended", escalation: "broken_output", toolId: "lab__x" } as const;
  return auditNotice(seq, { ...fact, ...more });
}

/** Starts a run that paid, and whose answer was lost. */
async function startInDoubt(what: string): Promise<string> {
  const args = JSON.stringify({ what, afterwards: "break" });
  const response = await chat([{ calls: [{ id: "pay", name: "lab__pay", args }] }], "lab");
  const runId = runIdOf(response);
  await untilState(runId, { status: "waiting" });
  await response.body?.cancel().catch(() => {});
  return runId;
}

test("an unknown outcome has an owner and a remedy, is taken, and is settled by a report alone", async () => {
  const runId = await startInDoubt("owned");
  const [opened] = await untilListed(runId, 1);
  expect(opened).toEqual({
    id: expect.stringMatching(/^esc_\d+$/),
    reason: "unknown_outcome",
    state: "open",
    runId,
    invocationId: "inv_1",
    toolId: "lab__pay",
    toolVersion: "1.0.0",
    owner: "lab",
    requestedBy: "user:lab",
    count: 1,
    openedAt: expect.any(String),
    until: expect.any(String),
    actions: ["take", "report_outcome"],
    href: `/v1/runs/${runId}/invocations/inv_1/outcome`,
  });
  const id = opened?.id ?? "";
  const taken = {
    state: "taken",
    takenBy: "user:lab",
    takenAt: expect.any(String),
    note: "I look",
  };
  for (const _repeated of [1, 2]) {
    const answer = await act(id, { action: "take", note: "I look" });
    expect(await answer.json()).toMatchObject({ ...taken, actions: ["release", "report_outcome"] });
  }
  expect(await refusalOf(await act(id, { action: "settle" }))).toEqual([
    409,
    "escalation_needs_report",
  ]);
  await tellOutcome(runId, { body: { outcome: "committed" } });
  const [settled] = await untilListed(runId, 1, { query: "&state=settled" });
  expect(settled).toMatchObject({
    state: "settled",
    settledBy: "user:lab",
    settledAs: "committed",
    actions: [],
  });
  expect(await untilListed(runId, 0)).toEqual([]);
  expect(await refusalOf(await act(id, { action: "take" }))).toEqual([409, "escalation_settled"]);
  expect(await auditedOf(runId)).toEqual(["escalation.opened", "escalation.taken"]);
  expect(written).toEqual(["pay: owned"]);
});

test("it is opened once, whatever dies and however often the run reports", async () => {
  const runId = await startInDoubt("once");
  await untilListed(runId, 1);
  await crash(runId);
  await stateOf(runId, "lab");
  await tellOutcome(runId, { body: { outcome: "not_committed" } });
  await untilListed(runId, 1, { query: "&state=settled" });
  expect(await auditedOf(runId)).toEqual(["escalation.opened"]);
});

test("what one person has taken, another takes over only by naming that person", async () => {
  const run = "run_held";
  await tell("rival", run, [runNotice(1), broken(2)]);
  const [one] = await untilListed(run, 1, { caller: "rival" });
  const id = one?.id ?? "";
  await act(id, { action: "take" }, "rival");
  for (const action of ["take", "release", "settle"]) {
    expect(await refusalOf(await act(id, { action }, "outsider"))).toEqual([
      409,
      "escalation_held",
    ]);
  }
  const over = { action: "take", from: "user:rival", note: "I take over" };
  expect((await act(id, over, "outsider")).status).toBe(200);
  expect(await refusalOf(await act(id, over, "rival"))).toEqual([409, "escalation_held"]);
  expect((await act(id, { action: "release" }, "outsider")).status).toBe(200);
  const note = "paid by hand, key sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
  const answer = await act(id, { action: "settle", note }, "rival");
  expect(await answer.json()).toMatchObject({ state: "settled", settledBy: "user:rival" });
  const [row] = await tenantRows("rival", "SELECT body FROM escalations WHERE run_id = 'run_held'");
  expect(row?.["body"]).toContain("note");
  expect(row?.["body"]).not.toContain("sk-abcdefghijklmnopqrstuvwxyz");
  expect(await auditedOf(run, "rival")).toEqual(
    ["opened", "taken", "taken", "released", "settled"].map((done) => `escalation.${done}`),
  );
});

/** The state of a call of each tool whose first attempt has ended. */
const ENDED_AS: Readonly<Record<string, DispatchState>> = {
  lab__fail_read: { ...DISPATCHED, mutates: false, isIdempotent: true },
  lab__fail_write: { ...DISPATCHED, mutates: true, isIdempotent: false },
  lab__fail_keyed: { ...DISPATCHED, mutates: true, isIdempotent: true },
};

describe("each end of a call", () => {
  test.each(Object.entries(ENDED_AS))(
    "of %s is listed, told and audited once, if its class escalates, and else not at all",
    async (tool, state) => {
      await storeReceiver(`/${tool}`);
      const expected: string[] = [];
      const seen: Record<"listed" | "audited", string[]> = { listed: [], audited: [] };
      const classOfRun = new Map<string, string>();
      const escalates = (as: (typeof FAILURE_CLASSES)[number]): boolean =>
        respond(as, state).escalate;
      for (const as of sampleOfGroups(FAILURE_CLASSES, (one) => `${escalates(one)}`, 3)) {
        const answer = await invoke(tool, { as }, { caller: "bendable", key: `esc-${tool}-${as}` });
        const { status, runId } = await read(answer);
        classOfRun.set(runId, as);
        // A write that may be repeated, and failed again, is an outcome that nobody knows.
        const asks = escalates(as) || status === 202;
        const last = status === 202 ? "escalation.opened" : "run.ended";
        await expect.poll(() => actionsOf(runId, "bendable")).toContain(last);
        if (asks) expected.push(as);
        const all = await untilListed(runId, asks ? 1 : 0, { caller: "bendable" });
        seen.listed.push(...all.map(() => as));
        seen.audited.push(...(await auditedOf(runId, "bendable")).map(() => as));
      }
      expect(seen).toEqual({ listed: expected, audited: expected });
      expect(expected).not.toEqual([]);
      const told = await untilReceived(`/${tool}`, expected.length);
      const classes = told.map(({ text }) => {
        const { data } = JSON.parse(text) as NotificationBody;
        return classOfRun.get(data["runId"] ?? "") ?? "";
      });
      expect(classes.toSorted()).toEqual(expected.toSorted());
    },
  );
});

/** Lets a model call a tool in one step with arguments that the policy forbids. */
async function askForbidden(name: string, times: number): Promise<string> {
  const calls = Array.from({ length: times }, (_, index) => {
    const id = `call_${index}`;
    return { id, name, args: JSON.stringify(FORBIDDEN[name]?.(`${index}`)) };
  });
  const response = await chat([{ calls }, { text: ["given up"] }], "bendable");
  await response.text();
  return runIdOf(response);
}
const FORBIDDEN: Readonly<Record<string, (text: string) => object>> = {
  lab__send_mail: (text) => ({ to: "eve@foreign.example", text }),
  lab__file: (what) => ({ what }),
};

test.each([
  ["of high risk", "lab__send_mail", 1, ["high_risk_refusal"]],
  ["that are few", "lab__file", 3, []],
  ["that are many", "lab__file", 4, ["repeated_refusals"]],
])("refusals by policy %s: %s, %i times", async (_name, tool, times, reasons) => {
  const runId = await askForbidden(tool, times);
  await expect.poll(() => actionsOf(runId, "bendable")).toContain("run.ended");
  const all = await untilListed(runId, reasons.length, { caller: "bendable" });
  expect(all.map(({ reason }) => reason)).toEqual(reasons);
  expect(all.every(({ toolId, actions }) => toolId === tool && actions.includes("settle"))).toBe(
    true,
  );
  expect([effects, written]).toEqual([[], []]);
});

test("what a person refused is listed nowhere", async () => {
  const { runId, approvalId } = await askToPay();
  await decide(approvalId, "bob", REJECT);
  await expect.poll(() => actionsOf(runId, "guild")).toContain("run.ended");
  expect(await untilListed(runId, 0, { caller: "chief" })).toEqual([]);
});

test("a model that does not correct its calls is listed once, and each call is counted", async () => {
  const steps = Array.from({ length: 4 }, (_, index) => ({
    calls: [{ id: `bad_${index}`, name: "lab__file", args: JSON.stringify({ wrong: index }) }],
  }));
  const response = await chat([...steps, { text: ["given up"] }], "bendable");
  await response.text();
  const [one, ...others] = await untilListed(runIdOf(response), 1, { caller: "bendable" });
  expect([one?.reason, one?.count, others]).toEqual(["repairs_exhausted", 2, []]);
});

test("a write whose state nobody could read is listed with who is responsible for the tool", async () => {
  readers.set("unread", () => undefined);
  const args = JSON.stringify({ topic: "unread" });
  const steps = [{ calls: [{ id: "post", name: "lab__post", args }] }, { text: ["posted"] }];
  const response = await chat(steps, "archive");
  await response.text();
  const runId = runIdOf(response);
  const seen = (attempts: number, status: string) =>
    untilState(runId, { toolCalls: [{ verification: { attempts, status } }] }, "archive");
  for (const attempts of [1, 2]) {
    await seen(attempts, "pending");
    await changeInvocation(runId, 1, { verification: { attempts, nextAtMs: 1 } });
    await ring(runId, "verification");
  }
  await seen(3, "unknown");
  const [one] = await untilListed(runId, 1, { caller: "archive" });
  expect(one).toMatchObject({
    reason: "verification_unknown",
    invocationId: "inv_1",
    owner: "lab",
  });
});

test("an undo that failed is listed at the call that was not undone, until a report", async () => {
  const lent = await read(
    await invoke("lab__lend_book", { book: "Ulysses" }, { caller: "bendable", key: '"ulysses"' }),
  );
  library.fault = "SEMANTIC_INVALIDITY";
  const path = `/v1/runs/${lent.runId}/invocations/inv_1`;
  const undo = await send(`${path}/compensate`, { caller: "bendable", method: "POST" });
  const { runId: undoId } = await read(undo);
  const [one] = await untilListed(lent.runId, 1, { caller: "bendable" });
  expect(one).toMatchObject({ reason: "undo_failed", href: `${path}/outcome` });
  expect(await untilListed(undoId, 0, { caller: "bendable" })).toEqual([]);
  await tellOutcome(lent.runId, { body: { outcome: "committed" }, caller: "bendable" });
  const [settled] = await untilListed(lent.runId, 1, {
    caller: "bendable",
    query: "&state=settled",
  });
  expect(settled?.settledBy).toBe("user:bendable");
});

describe("the list", () => {
  test("counts a notice that arrives twice once, and holds no text that looks like a secret", async () => {
    const code = "sk-abcdefghijklmnopqrstuvwxyz0123456789ABCD";
    for (const _time of [1, 2]) {
      await tell("rival", "run_twice", [runNotice(1), broken(2), broken(3, { reason: code })]);
    }
    const [one] = await untilListed("run_twice", 1, { caller: "rival" });
    expect(one?.count).toBe(2);
    const [row] = await tenantRows(
      "rival",
      "SELECT body FROM escalations WHERE run_id = 'run_twice'",
    );
    expect(row?.["body"]).not.toContain("sk-");
  });

  test("is read in pages, the oldest first, and filtered by reason, person, tool and assistant", async () => {
    const runs = ["run_p1", "run_p2", "run_p3"];
    for (const run of runs) {
      const told = runNotice(1, { assistantId: `of_${run}` as never });
      await tell("rival", run, [
        told,
        broken(2, { actorId: `user:${run}`, toolId: `lab__${run}` }),
      ]);
    }
    const seen: string[] = [];
    let cursor = "";
    do {
      const query = `/v1/escalations?limit=1&reason=broken_output${cursor}`;
      const page = await (
        await send(query, { caller: "rival" })
      ).json<{
        escalations: readonly Listed[];
        next?: string;
      }>();
      seen.push(...page.escalations.map(({ runId }) => runId));
      cursor = page.next === undefined ? "" : `&cursor=${encodeURIComponent(page.next)}`;
    } while (cursor !== "");
    expect(seen.filter((run) => runs.includes(run))).toEqual(runs);
    expect(await listOf("&reason=undo_failed", "rival")).toEqual([]);
    for (const filter of ["person=user:run_p2", "tool=lab__run_p2", "assistant=of_run_p2"]) {
      const found = await listOf(`&${filter}`, "rival");
      expect([filter, found.map(({ runId }) => runId)]).toEqual([filter, ["run_p2"]]);
    }
  });

  test.each(["?state=lost", "?reason=other", "?limit=0", "?assistant="])(
    "refuses the query %s",
    async (query) => {
      expect((await send(`/v1/escalations${query}`, { caller: "rival" })).status).toBe(400);
    },
  );

  test("answers for another tenant's escalation as for an unknown one", async () => {
    const runId = await startInDoubt("foreign");
    const [one] = await untilListed(runId, 1);
    const ask = async (which: string) => {
      const answer = await act(which, { action: "take" }, "acme");
      return `${answer.status} ${await answer.text()}`;
    };
    const unknown = await ask("esc_999999999");
    expect(unknown).toContain("escalation_not_found");
    for (const which of [one?.id ?? "", "esc_0", "esc_1e3", "nonsense"])
      expect(await ask(which)).toBe(unknown);
    expect((await untilListed(runId, 1))[0]?.state).toBe("open");
  });

  test("without an escalation creates no table", async () => {
    await tell("plain-too", "run_p", [runNotice(1), auditNotice(2)]);
    const sql = "SELECT name FROM sqlite_master WHERE name = 'escalations'";
    expect(await tenantRows("plain-too", sql)).toEqual([]);
  });

  test("forgets a run that is erased", async () => {
    await tell("rival", "run_erased", [runNotice(1), broken(2)]);
    await untilListed("run_erased", 1, { caller: "rival" });
    await tell("rival", "run_erased", [{ seq: 3, notice: { type: "erased" } }]);
    await untilListed("run_erased", 0, { caller: "rival" });
  });
});
