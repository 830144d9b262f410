import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { Result } from "../../protocol/outcome/result.ts";

/** The gates of the pipeline, in their order, as the audit log names them. */
export type GateName =
  | "lookup"
  | "turn"
  | "policy"
  | "parse"
  | "arguments"
  | "rules"
  | "authorise"
  | "argument_rules"
  | "connection"
  | "state"
  | "approval"
  | "history"
  | "hooks"
  | "budget"
  | "idempotency"
  | "execute"
  | "output";

/** What the gates said of one attempt. */
export type GateResults = NonNullable<AuditEntry["gates"]>;

/** Notes which gates an attempt passed, and which one ended it. */
export class GateTrail {
  readonly #passed: GateName[] = ["lookup"];
  #refusedBy: GateName | undefined;

  /** Notes what a gate said, and hands it on. A gate that is asked twice is named once. */
  note<T extends Result<unknown, unknown>>(gate: GateName, said: T): T {
    if (!said.ok) this.#refusedBy = gate;
    else if (!this.#passed.includes(gate)) this.#passed.push(gate);
    return said;
  }

  get results(): GateResults {
    const passed = [...this.#passed];
    return this.#refusedBy === undefined ? { passed } : { passed, refusedBy: this.#refusedBy };
  }
}
