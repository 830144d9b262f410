import { describe, expect, test } from "vitest";
import { createApprovalSigner } from "../../src/adapters/jose-approval-signer.ts";
import type { ApprovalRecord } from "../../src/protocol/approval/record.ts";
import type { ActorId } from "../../src/protocol/identity/ids.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { WAITING } from "../../src/runner/waiting.ts";
import { MemoryJournal, policyOf } from "../fakes/fakes.ts";
import { approveAtDesk, type Forgery } from "../shared/approve-at-desk.ts";
import { APPROVAL_SECRET, benchFor, endOf, type BenchSettings } from "../fakes/runner-ports.ts";
import { TestDesk } from "../fakes/test-desk.ts";
import { AS_READ, noteTool } from "../shared/tools.ts";

const signer = createApprovalSigner(APPROVAL_SECRET);
const REVIEW = {
  allowedTools: ["test__note"],
  approvals: [{ tools: ["test__note"], pattern: "operator_review" }],
};

/** A call that people are asked about, and then asked for again. */
async function askedFor(settings: BenchSettings = {}, change: object = {}) {
  const { tool, reached } = noteTool(change);
  const desk = new TestDesk();
  const bench = benchFor([tool], { policy: REVIEW, approvals: desk, ...settings });
  const again = () => bench.ask("test__note", { text: "hi" }, { step: 1, id: "call_1" });
  const first = await again();
  const open = (): ApprovalRecord => {
    const record = desk.newest(1);
    if (!record) throw new Error("nobody was asked");
    return record;
  };
  return { ...bench, desk, reached, again, first, open };
}

/** Approves a question as olga would, but for what is forged. */
function approve({ desk }: { readonly desk: TestDesk }, forgery?: Forgery): Promise<void> {
  return approveAtDesk(desk, forgery);
}

/** What the call comes to once it is asked for again: its end, and whether the tool ran. */
async function endAgain(asked: Awaited<ReturnType<typeof askedFor>>) {
  const outcome = await asked.again();
  if (outcome === WAITING) return [WAITING, asked.reached.length];
  return [...endOf(outcome), asked.reached.length];
}

test("a call that people have to approve waits, and the tool does not run", async () => {
  const asked = await askedFor();
  expect([asked.first, asked.reached]).toEqual([WAITING, []]);
  expect(await endAgain(asked)).toEqual([WAITING, 0]);
});

test("an approval lets exactly this call run, once", async () => {
  const asked = await askedFor();
  await approve(asked);
  expect(await endAgain(asked)).toEqual(["SUCCESS", undefined, 1]);
  expect(asked.open().consumedAtMs).toBeTypeOf("number");
  expect(await endAgain(asked)).toEqual(["SUCCESS", undefined, 1]);
});

// Mutant: a read that closes its reservation only where policy limits what it takes.
test("a read that people approved tells the tenant's ledger that it ran", async () => {
  const asked = await askedFor({}, { ...AS_READ });
  await approve(asked);
  expect(await endAgain(asked)).toEqual(["SUCCESS", undefined, 1]);
  expect(asked.reservations.length).toBe(1);
  expect(asked.closed).toEqual([["run_1/1:call_1", { reads: 1 }]]);
});

test("the approval is durably taken before the tool runs, also of a read", async () => {
  const seen: string[] = [];
  const journal = new MemoryJournal();
  const asked = await askedFor(
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
    seen.push(asked.open().consumedAtMs === undefined ? "durable, not taken" : "durably taken");
    return Promise.resolve();
  };
  await approve(asked);
  await asked.again();
  expect(seen).toEqual(["durably taken", "runs"]);
});

describe("an approval is none that", () => {
  const other = "sha256:other";
  test.each<[string, Forgery]>([
    ["was signed elsewhere", { secret: "another secret of 32 characters!" }],
    ["has no token", { vote: { token: "" } }],
    ["has a token that is no text of ours", { vote: { token: "a.b.c" } }],
    ["is of another question", { token: { approval_id: "appr_other" as never } }],
    ["is of another run", { token: { trace_id: "run_other" } }],
    ["is of another tenant", { token: { tenant_id: "rival" } }],
    ["is of another tool", { token: { tool_name: "test__other" } }],
    ["is of another version", { token: { tool_version: "1.0.1" } }],
    ["is of another payload", { token: { payload_hash: other } }],
    ["is of another revision of the policy", { token: { policy_revision: 2 } }],
    ["is of another policy of that revision", { token: { policy_hash: other } }],
    ["has another scope", { token: { approval_scope: "any" as never } }],
    ["is a rejection", { token: { decision: "rejected" as never } }],
    ["somebody else signed", { token: { approver_id: "user:eve" as ActorId } }],
    ["came from whoever asked", { vote: { approverId: "user:ann" as ActorId } }],
    ["came from a program", { vote: { approverId: "agent:olga" as ActorId } }],
    ["came from somebody without the role", { vote: { roles: ["approver"] } }],
    ["was taken before", { record: { consumedAtMs: 1 } }],
  ])("%s", async (_, forgery) => {
    const asked = await askedFor();
    await approve(asked, forgery);
    const [taxonomyClass, code, ran] = await endAgain(asked);
    expect([taxonomyClass, ran]).toEqual(["CONFIRMATION_MISSING", 0]);
    expect(code).toMatch(/^approval_(invalid|used)$/);
  });

  test("comes too late", async () => {
    const asked = await askedFor();
    await approve(asked);
    asked.clock.advance(3_600_000 + 300_001);
    expect(await endAgain(asked)).toEqual(["CONFIRMATION_MISSING", "approval_expired", 0]);
  });

  test("is one of two, for one person counts once", async () => {
    const asked = await askedFor({
      policy: { ...REVIEW, approvals: [{ ...REVIEW.approvals[0], required: 2 }] },
    });
    await approve(asked);
    const [vote] = asked.open().votes;
    if (vote) asked.desk.change(1, { votes: [vote, vote] });
    expect(await endAgain(asked)).toEqual(["CONFIRMATION_MISSING", "approval_invalid", 0]);
  });

  test("is one of two, for one person counts once in whatever letters", async () => {
    const asked = await askedFor({
      policy: { ...REVIEW, approvals: [{ ...REVIEW.approvals[0], required: 2 }] },
    });
    await approve(asked);
    const [small] = asked.open().votes;
    await approve(asked, { vote: { approverId: "user:OLGA-0" as ActorId } });
    const [large] = asked.open().votes;
    if (small && large) asked.desk.change(1, { votes: [small, large] });
    expect(await endAgain(asked)).toEqual(["CONFIRMATION_MISSING", "approval_invalid", 0]);
  });

  test.each([
    ["rejected", "PERMISSION_DENIED", "approval_rejected"],
    ["expired", "CONFIRMATION_MISSING", "approval_expired"],
    ["withdrawn", "CONFIRMATION_MISSING", "approval_withdrawn"],
  ] as const)("was %s", async (status, taxonomyClass, code) => {
    const asked = await askedFor();
    await approve(asked, { record: { status } });
    expect(await endAgain(asked)).toEqual([taxonomyClass, code, 0]);
  });

  test("was given under a policy that is not current any more", async () => {
    const pin = { revision: 2, hash: "sha256:2" };
    const asked = await askedFor({
      ledgerAnswers: [{ kind: "policy_changed", pin }],
      policies: {
        load: () => Promise.reject(new Error("the pointer is not to be asked")),
        learn: () => {},
        read: () => Promise.resolve({ policy: policyOf(REVIEW), pin }),
      },
    });
    await approve(asked);
    expect(await endAgain(asked)).toEqual(["CONFIRMATION_MISSING", "approval_outdated", 0]);
  });
});

test("people are asked under the policy that is current, and as strictly as both want", async () => {
  const pin = { revision: 3, hash: "sha256:3" };
  const asked = await askedFor({ registry: { current: () => Promise.resolve(pin) } });
  expect(asked.first).not.toBe(WAITING);
  expect(endOf(asked.first as never)).toEqual(["POLICY_VIOLATION", "no_policy"]);
});

test("nobody is asked while nobody knows which policy is current", async () => {
  const asked = await askedFor({ registry: { current: () => Promise.reject(new Error("away")) } });
  expect(endOf(asked.first as never)).toEqual(["DEPENDENCY_UNAVAILABLE", "policy_unavailable"]);
});

test("what people refused is not asked again with the same arguments, and is with others", async () => {
  const asked = await askedFor();
  asked.desk.change(1, { status: "rejected", votes: [] });
  const at = (step: number) => ({ step, id: `call_${step}` });
  expect(await asked.ask("test__note", { text: "ho" }, at(2))).toBe(WAITING);
  const same = await asked.call("test__note", { text: "hi" }, at(3));
  expect(endOf(same)).toEqual(["PERMISSION_DENIED", "approval_rejected"]);
  expect([asked.desk.newest(3), asked.reached]).toEqual([undefined, []]);
});

test("a signed text of another kind is no approval", async () => {
  const { CompactSign } = await import("jose");
  const { deriveKey } = await import("../../src/adapters/derive-key.ts");
  const key = await deriveKey(APPROVAL_SECRET, "approval-token");
  const text = await new CompactSign(new TextEncoder().encode('{"approval_id":"x"}'))
    .setProtectedHeader({ alg: "HS256", typ: "JWT" })
    .sign(key);
  expect(await signer.read(text)).toBeUndefined();
});
