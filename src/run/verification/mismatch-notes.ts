import type { MismatchNote, MismatchNotes } from "../../capabilities/run-journal.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import type { RunInvocations } from "../invocations.ts";

/**
 * Gives the loop the mismatches of a run that the model was not told of.
 * Ownership: one per incarnation of a run. A note counts as told once its message is stored.
 */
export class UntoldMismatches implements MismatchNotes {
  readonly #invocations: Pick<RunInvocations, "untoldMismatches">;
  readonly #taken = new Set<number>();

  constructor(invocations: Pick<RunInvocations, "untoldMismatches">) {
    this.#invocations = invocations;
  }

  takeAll(): readonly MismatchNote[] {
    return this.#invocations.untoldMismatches().flatMap((record) => {
      const { number, toolCallId, name, verification, end } = record;
      if (this.#taken.has(number) || !end) return [];
      this.#taken.add(number);
      const { target_state_reference, expected_state } = end.observation.verification;
      const { found = null, atMs = 0 } = verification ?? {};
      const state = { target_state_reference, expected_state, found_state: found };
      const about = { call_id: toolCallId, tool: name, ...state, verified_at: toIso(atMs) };
      return [{ invocation: number, about }];
    });
  }
}
