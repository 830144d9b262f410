import { describe, expect, test } from "vitest";
import { createApprovalSigner } from "../../src/adapters/keys/jose-approval-signer.ts";
import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import { hashTerms } from "../../src/protocol/approval/terms.ts";
import type { ActorId } from "../../src/protocol/identity/ids.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { WAITING } from "../../src/runner/waiting.ts";
import { MemoryJournal } from "../../src/testing/memory/memory-journal.ts";
import { policyOf } from "../../src/testing/fakes/fakes.ts";
import { approveAtDesk, type Forgery } from "../../src/testing/fakes/approve-at-desk.ts";
import {
  APPROVAL_SECRET,
  benchFor,
  endOf,
  type BenchSettings,
} from "../../src/testing/fakes/runner-ports.ts";
import { TestDesk } from "../../src/testing/fakes/test-desk.ts";
import { AS_READ, noteTool } from "../shared/tools.ts";

const signer = createApprovalSigner(APPROVAL_SECRET);
const REVIEW = {
  allowedTools: ["test__note"],
  approvals: [{ tools: ["test__note"], pattern: "operator_review" }],
};

/** The approver of `approve`. */
const OLGA = "user:olga-0" as ActorId;

/** Makes a call that waits for approval, and can call it again. */
async function requestApproval(settings: BenchSettings = {}, change: object = {}) {
  const { tool, reached } = noteTool(change);
  const desk = new TestDesk();
  const bench = benchFor([tool], { policy: REVIEW, approvals: desk, ...settings });
  const again = () => bench.ask("test__note", { text: "hi" }, { step: 1, id: "call_1" });
  const first = await again();
  const open = (): ApprovalRecord => {
    const record = desk.newest(1);
    if (!record) throw new Error("no approval was requested");
    return record;
  };
  return { ...bench, desk, reached, again, first, open };
}

/** Approves as Olga, except for the forged part. */
function approve({ desk }: { readonly desk: TestDesk }, forgery?: Forgery): Promise<void> {
  return approveAtDesk(desk, forgery);
}

/** Repeats the call. Returns its end and how often the tool ran. */
async function repeat(requested: Awaited<ReturnType<typeof requestApproval>>) {
  const outcome = await requested.again();
  if (outcome === WAITING) return [WAITING, requested.reached.length];
  return [...endOf(outcome), requested.reached.length];
}

test("a call that requires approval waits, and the tool does not run", async () => {
  const requested = await requestApproval();
  expect([requested.first, requested.reached]).toEqual([WAITING, []]);
  expect(await repeat(requested)).toEqual([WAITING, 0]);
});

test("an approval lets exactly this call run once", async () => {
  const requested = await requestApproval();
  await approve(requested);
  expect(await repeat(requested)).toEqual(["SUCCESS", undefined, 1]);
  expect(requested.open().consumedAtMs).toBeTypeOf("number");
  expect(await repeat(requested)).toEqual(["SUCCESS", undefined, 1]);
});

test("an approved read settles its reservation in the tenant's ledger", async () => {
  const requested = await requestApproval({}, { ...AS_READ });
  await approve(requested);
  expect(await repeat(requested)).toEqual(["SUCCESS", undefined, 1]);
  expect(requested.reservations.length).toBe(1);
  expect(requested.closed).toEqual([["run_1/1:call_1", { reads: 1 }]]);
});

test("an approval is durably consumed before the tool runs, also for a read", async () => {
  const seen: string[] = [];
  const journal = new MemoryJournal();
  const requested = await requestApproval(
    { journal },
    {
      ...AS_READ,
      execute: () => {
        seen.push("runs");
        return ok({ text: "hi" });
      },
    },
  );
  journal.secure = () => {
    seen.push(
      requested.open().consumedAtMs === undefined ? "durable, not consumed" : "durably consumed",
    );
    return Promise.resolve();
  };
  await approve(requested);
  await requested.again();
  expect(seen).toEqual(["durably consumed", "runs"]);
});

describe("an approval is refused that", () => {
  const other = "sha256:other";
  test.each<[string, Forgery]>([
    ["was signed elsewhere", { secret: "another secret of 32 characters!" }],
    ["has no token", { vote: { token: "" } }],
    ["has a token that is not a signed text", { vote: { token: "a.b.c" } }],
    ["belongs to another approval", { token: { approval_id: "appr_other" as never } }],
    ["belongs to another run", { token: { trace_id: "run_other" } }],
    ["belongs to another tenant", { token: { tenant_id: "rival" } }],
    ["belongs to another tool", { token: { tool_name: "test__other" } }],
    ["belongs to another version", { token: { tool_version: "1.0.1" } }],
    ["belongs to another payload", { token: { payload_hash: other } }],
    ["belongs to other terms", { token: { terms_hash: other } }],
    ["has another scope", { token: { approval_scope: "any" as never } }],
    ["is a rejection", { token: { decision: "rejected" as never } }],
    ["names another approver than its vote", { token: { approver_id: "user:eve" as ActorId } }],
    ["came from the requester", { vote: { approverId: "user:ann" as ActorId } }],
    ["came from the minter of the run's page token", { record: { minterId: OLGA } }],
    ["came from a program", { vote: { approverId: "agent:olga" as ActorId } }],
    ["came from an approver without the role", { vote: { roles: ["approver"] } }],
    ["was consumed before", { record: { consumedAtMs: 1 } }],
  ])("%s", async (_, forgery) => {
    const requested = await requestApproval();
    await approve(requested, forgery);
    const [taxonomyClass, code, ran] = await repeat(requested);
    expect([taxonomyClass, ran]).toEqual(["CONFIRMATION_MISSING", 0]);
    expect(code).toMatch(/^approval_(invalid|used)$/);
  });

  test("has expired", async () => {
    const requested = await requestApproval();
    await approve(requested);
    requested.clock.advance(3_600_000 + 300_001);
    expect(await repeat(requested)).toEqual(["CONFIRMATION_MISSING", "approval_expired", 0]);
  });

  test("has two votes of one person", async () => {
    const requested = await requestApproval({
      policy: { ...REVIEW, approvals: [{ ...REVIEW.approvals[0], required: 2 }] },
    });
    await approve(requested);
    const [vote] = requested.open().votes;
    if (vote) requested.desk.change(1, { votes: [vote, vote] });
    expect(await repeat(requested)).toEqual(["CONFIRMATION_MISSING", "approval_invalid", 0]);
  });

  test("has one vote of the requester and one of the minter of the run's page token", async () => {
    const rule = { ...REVIEW.approvals[0], required: 2, roles: [], excludeRequester: false };
    const repeatWith = async (minter: Pick<ApprovalRecord, "minterId">) => {
      const requested = await requestApproval({ policy: { ...REVIEW, approvals: [rule] } });
      await approve(requested, { vote: { approverId: "user:ann" as ActorId } });
      const [ofRequester] = requested.open().votes;
      await approve(requested, { vote: { approverId: OLGA } });
      const [ofMinter] = requested.open().votes;
      if (ofRequester && ofMinter) {
        requested.desk.change(1, { votes: [ofRequester, ofMinter], ...minter });
      }
      return repeat(requested);
    };
    expect(await repeatWith({})).toEqual(["SUCCESS", undefined, 1]);
    expect(await repeatWith({ minterId: OLGA })).toEqual([
      "CONFIRMATION_MISSING",
      "approval_invalid",
      0,
    ]);
  });

  test("has two votes of one person in different letter case", async () => {
    const requested = await requestApproval({
      policy: { ...REVIEW, approvals: [{ ...REVIEW.approvals[0], required: 2 }] },
    });
    await approve(requested);
    const [small] = requested.open().votes;
    await approve(requested, { vote: { approverId: "user:OLGA-0" as ActorId } });
    const [large] = requested.open().votes;
    if (small && large) requested.desk.change(1, { votes: [small, large] });
    expect(await repeat(requested)).toEqual(["CONFIRMATION_MISSING", "approval_invalid", 0]);
  });

  test.each([
    ["rejected", "PERMISSION_DENIED", "approval_rejected"],
    ["expired", "CONFIRMATION_MISSING", "approval_expired"],
    ["withdrawn", "CONFIRMATION_MISSING", "approval_withdrawn"],
  ] as const)("was %s", async (status, taxonomyClass, code) => {
    const requested = await requestApproval();
    await approve(requested, { record: { status } });
    expect(await repeat(requested)).toEqual([taxonomyClass, code, 0]);
  });
});

describe("an approved call whose policy changes", () => {
  const pin = { revision: 2, hash: "sha256:2" };

  /** Requests and approves a call, and repeats it once the tenant has another policy. */
  async function repeatUnder(document: object) {
    let current = { revision: 1, hash: "sha256:1" };
    const requested = await requestApproval({
      registry: { current: () => Promise.resolve(current) },
      ledgerAnswers: [{ kind: "policy_changed", pin }],
      policies: {
        load: () => Promise.reject(new Error("the pointer is not read")),
        learn: () => {},
        read: () => Promise.resolve({ policy: policyOf(document), pin }),
      },
    });
    await approve(requested);
    current = pin;
    return { requested, end: await repeat(requested) };
  }

  test("runs when the new policy comes to the same terms", async () => {
    const { end } = await repeatUnder({ ...REVIEW, origins: ["https://other.example"] });
    expect(end).toEqual(["SUCCESS", undefined, 1]);
  });

  test("waits for a new approval under other terms, which names the difference", async () => {
    const { requested, end } = await repeatUnder({
      ...REVIEW,
      approvals: [{ ...REVIEW.approvals[0], required: 2 }],
    });
    expect(end).toEqual([WAITING, 0]);
    expect(requested.open()).toMatchObject({
      generation: 2,
      status: "pending",
      changedTerms: [{ term: "required", before: 1, after: 2 }],
    });
  });

  test("ends when the new policy refuses it", async () => {
    const { end } = await repeatUnder({ ...REVIEW, allowedTools: [] });
    expect(end).toEqual(["POLICY_VIOLATION", "not_allowed", 0]);
  });
});

test("a token keeps the policy of its vote as evidence, and no other call compares it", async () => {
  const requested = await requestApproval();
  await approve(requested, { token: { policy_revision: 7, policy_hash: "sha256:7" } });
  expect(await repeat(requested)).toEqual(["SUCCESS", undefined, 1]);
});

test("an approval of other terms is requested again", async () => {
  const requested = await requestApproval();
  await approve(requested);
  const { votes } = requested.open();
  requested.desk.replace({
    ...requested.open(),
    termsHash: "sha256:other",
    status: "approved",
    votes,
  });
  expect(await repeat(requested)).toEqual([WAITING, 0]);
  expect(requested.open()).toMatchObject({ generation: 2, status: "pending", votes: [] });
});

test("an approval whose stored packet is not what people signed is requested again", async () => {
  const requested = await requestApproval();
  const { packet } = requested.open();
  const other = { ...packet, consequence: "Something else." };
  const termsHash = await hashTerms(requested.open(), other);
  requested.desk.change(1, { packet: other, termsHash });
  await approve(requested);
  requested.desk.change(1, { packet });
  expect(await repeat(requested)).toEqual([WAITING, 0]);
});

test("no approval is requested when the current policy cannot be read", async () => {
  const pin = { revision: 3, hash: "sha256:3" };
  const requested = await requestApproval({ registry: { current: () => Promise.resolve(pin) } });
  expect(requested.first).not.toBe(WAITING);
  expect(endOf(requested.first as never)).toEqual(["POLICY_VIOLATION", "no_policy"]);
});

test("no approval is requested while the policy registry is unavailable", async () => {
  const requested = await requestApproval({
    registry: { current: () => Promise.reject(new Error("away")) },
  });
  expect(endOf(requested.first as never)).toEqual(["DEPENDENCY_UNAVAILABLE", "policy_unavailable"]);
});

test("a rejected payload is not requested again, and other arguments are", async () => {
  const requested = await requestApproval();
  requested.desk.change(1, { status: "rejected", votes: [] });
  const at = (step: number) => ({ step, id: `call_${step}` });
  expect(await requested.ask("test__note", { text: "ho" }, at(2))).toBe(WAITING);
  const same = await requested.call("test__note", { text: "hi" }, at(3));
  expect(endOf(same)).toEqual(["PERMISSION_DENIED", "approval_rejected"]);
  expect([requested.desk.newest(3), requested.reached]).toEqual([undefined, []]);
});

test("a signed text of another type is no approval", async () => {
  const { CompactSign } = await import("jose");
  const { deriveKey } = await import("../../src/adapters/keys/derive-key.ts");
  const key = await deriveKey(APPROVAL_SECRET, "approval-token");
  const text = await new CompactSign(new TextEncoder().encode('{"approval_id":"x"}'))
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(key);
  expect(await signer.read(text)).toBeUndefined();
});
