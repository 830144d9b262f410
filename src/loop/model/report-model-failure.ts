import { actorsOf } from "../../protocol/identity/principal.ts";
import type { ModelFailure } from "../../protocol/model/event.ts";
import { maskWords } from "../../protocol/text/error-report.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import type { RunScope } from "../run-scope.ts";

/**
 * Tells operators and the audit log that a model call failed, with the provider's own words, which
 * no client gets. A call that the run itself stopped has not failed.
 */
export function reportModelFailure(
  {
    claim,
    clock,
    journal,
    log,
    state,
  }: Pick<RunScope, "claim" | "clock" | "journal" | "log" | "state">,
  { code: reason, status, detail }: ModelFailure,
): void {
  if (reason === "aborted") return;
  const facts = { model: state.model, reason, ...(status !== undefined && { status }) };
  log.write({ level: "warn", code: "model_failed", ...facts, detail });
  journal.audit({
    action: "model.failed",
    at: toIso(clock.nowMs()),
    ...actorsOf(claim.principal),
    runId: claim.runId,
    ...facts,
    detail: maskWords(detail),
  });
}
