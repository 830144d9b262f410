import { createApprovalSigner } from "../../adapters/keys/jose-approval-signer.ts";
import type {
  ApprovalRecord,
  ApprovalToken,
  ApprovalVote,
} from "../../protocol/approval/record.ts";
import { approvalTokenOf } from "../../protocol/approval/token.ts";
import type { ActorId } from "../../protocol/identity/ids.ts";
import { ACME, APPROVAL_SECRET, RUN_ID } from "./runner-ports.ts";
import type { TestDesk } from "./test-desk.ts";

/** The forged part of an approval. */
export interface Forgery {
  /** The call that is approved. Default: the first. */
  readonly invocation?: number;
  readonly vote?: Partial<ApprovalVote>;
  readonly token?: Partial<ApprovalToken>;
  readonly record?: Partial<ApprovalRecord>;
  readonly secret?: string;
}

/** Approves an invocation with the required votes, except for the forged part. */
export async function approveAtDesk(
  desk: TestDesk,
  { invocation = 1, vote = {}, token = {}, record = {}, secret = APPROVAL_SECRET }: Forgery = {},
): Promise<void> {
  const open = desk.newest(invocation);
  if (!open) throw new Error("nobody was asked");
  const signer = createApprovalSigner(secret);
  const needed = open.requirements.flatMap((one) =>
    Array.from({ length: one.required }, () => one),
  );
  const votes = await Promise.all(
    needed.map(async ({ roles, onlyRequester }, index) => {
      const approverId = onlyRequester ? open.requester : (`user:olga-${index}` as ActorId);
      const said = { approverId, roles, reason: "fine", atMs: open.askedAtMs, ...vote };
      const whole = approvalTokenOf({ ...open, termsHash: open.termsHash ?? "" }, said, {
        runId: RUN_ID,
        tenantId: ACME,
      });
      const signed = await signer.sign({ ...whole, ...token });
      return Object.assign({ decision: "approve" as const, token: signed }, said);
    }),
  );
  desk.change(invocation, { status: "approved", votes, ...record });
}
