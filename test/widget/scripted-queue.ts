import type { ScriptedApi } from "./scripted-api.ts";
import { createApproval } from "./scripted-approvals.ts";

/** What a packet says of its action. */
export const titled = (title: string, tool = "desk__tag") => ({
  actionName: { title, tool, version: "1.0.0" },
});

/** Fills the queue with five approvals: one of a mail, a critical one, and three to tag. */
export function fillQueue({ approvals }: ScriptedApi): void {
  const mail = { ...titled("Send a mail", "mail__send"), riskClass: "HIGH_RISK_EXTERNAL" } as const;
  const wipe = { ...titled("Wipe it", "disk__wipe"), riskClass: "CRITICAL_MUTATION" } as const;
  approvals.put(createApproval({ id: "appr_mail", packet: mail }));
  approvals.put(createApproval({ id: "appr_wipe", pattern: "async_review", packet: wipe }));
  for (const name of ["one", "two", "three"]) {
    const packet = titled(`Tag ${name}`);
    approvals.put(createApproval({ id: `appr_${name}`, pattern: "async_review", packet }));
  }
}
