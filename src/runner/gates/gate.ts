import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { ToolFailure } from "../../protocol/outcome/observation.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";

/**
 * One check of the pipeline. A gate reads the subject of its group and uses the ports that its
 * type names.
 * Contract: returns what it adds to the subject, or the failure that ends the call.
 */
export interface Gate<Subject, Ports = unknown> {
  /** Names the gate in the audit log. */
  readonly name: string;
  readonly check: (
    subject: Subject,
    ports: Ports,
  ) => Result<Partial<Subject>, ToolFailure> | Promise<Result<Partial<Subject>, ToolFailure>>;
}

/** A gate of any group. */
export interface AnyGate {
  readonly name: string;
  readonly check: (subject: never, ports: never) => unknown;
}

/**
 * All ports that the gates of a group need: the intersection of their ports. TypeScript infers an
 * intersection from the parameters of a union of functions.
 */
export type PortsOf<Gates extends readonly AnyGate[]> = (
  Gates[number] extends infer One
    ? One extends { readonly check: (subject: never, ports: infer Ports) => unknown }
      ? (ports: Ports) => void
      : never
    : never
) extends (ports: infer All) => void
  ? All
  : never;

/** Answer of a gate that adds nothing to its subject. */
export const PASSED = ok({});

/** Asks the gates of one group in their order. Stops at the first failure and returns it. */
export async function passAll<Subject extends object, Ports>(
  gates: readonly Gate<Subject, Ports>[],
  subject: Subject,
  { ports, trail }: { readonly ports: Ports; readonly trail: GateTrail },
): Promise<Result<Subject, ToolFailure>> {
  const passed = { ...subject };
  for (const { name, check } of gates) {
    const checked = check(passed, ports);
    // Most gates answer without a promise; awaiting their answer would cost a microtask each.
    const answer = trail.note(name, checked instanceof Promise ? await checked : checked);
    if (!answer.ok) return answer;
    Object.assign(passed, answer.value);
  }
  return ok(passed);
}

/** What the gates answered in one attempt. */
export type GateResults = NonNullable<AuditEntry["gates"]>;

/** Notes which gates an attempt passed, and which gate ended it. */
export class GateTrail {
  /** An attempt starts only after the lookup found its tool. */
  readonly #passed = new Set<string>(["lookup"]);
  #refusedBy: string | undefined;

  /**
   * Notes the answer of a gate and returns it. A gate that is asked twice is listed once; when it
   * passed first and refused later, only the refusal is listed.
   */
  note<Answer extends Result<unknown, unknown>>(gate: string, answer: Answer): Answer {
    if (answer.ok) this.#passed.add(gate);
    else this.#refusedBy ??= gate;
    return answer;
  }

  hasPassed(gate: string): boolean {
    return this.#passed.has(gate);
  }

  get results(): GateResults {
    const passed = [...this.#passed].filter((gate) => gate !== this.#refusedBy);
    return this.#refusedBy === undefined ? { passed } : { passed, refusedBy: this.#refusedBy };
  }
}
