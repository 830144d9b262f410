import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isLegalMove, INVOCATION_STATES } from "../../../src/protocol/invocation/state.ts";
import type { InvocationState } from "../../../src/protocol/invocation/state.ts";
import type {
  InvocationBinding,
  InvocationEnd,
  ToolInvocationRecord,
} from "../../../src/protocol/invocation/record.ts";
import {
  InvocationLedger,
  type FinalState,
} from "../../../src/runner/invocation/invocation-ledger.ts";

const LEGAL: ReadonlySet<string> = new Set([
  "PENDING > COMPLETED",
  "PENDING > FAILED_RETRYABLE",
  "PENDING > FAILED_FINAL",
  "PENDING > EXPIRED",
  "COMPLETED > COMPENSATED",
  "FAILED_RETRYABLE > PENDING",
  "FAILED_RETRYABLE > FAILED_FINAL",
]);

describe("of the moves from one state to another", () => {
  const pairs = INVOCATION_STATES.flatMap((from) =>
    INVOCATION_STATES.map((to) => [from, to, LEGAL.has(`${from} > ${to}`)] as const),
  );

  test("there are six times six, and seven of them are legal", () => {
    expect([pairs.length, pairs.filter(([, , isLegal]) => isLegal).length]).toEqual([36, 7]);
  });

  test.each(pairs)("%s to %s is legal: %s", (from, to, isLegal) => {
    expect(isLegalMove(from, to)).toBe(isLegal);
  });
});

const OPERATION = { step: 1, toolCallId: "call" as never };
const CALL = { toolCallId: "call" as never, name: "tool", argumentsText: "{}", truncated: false };
const BINDING: InvocationBinding = {
  version: "1.0.0",
  payloadHash: "sha256:payload",
  idempotencyKey: "key",
  mutates: true,
  dataClass: "internal" as const,
  owner: "test",
  shownArgs: {},
};
const END = { startedAtMs: 1, endedAtMs: 2 } as InvocationEnd;
const FINAL_STATES = ["COMPLETED", "FAILED_RETRYABLE", "FAILED_FINAL", "EXPIRED"] as const;

/** What a walk may try. */
type Act =
  | { readonly kind: "reserve" | "bind" | "charge" | "dispatch" | "retract" | "await" }
  | { readonly kind: "settle"; readonly state: FinalState };

const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom("reserve", "bind", "charge", "dispatch", "retract", "await"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant("settle" as const),
      state: fc.constantFrom(...FINAL_STATES),
    }),
  },
);

/** What a record has to be like, told apart from the ledger's own code. */
interface Model {
  readonly isReserved: boolean;
  readonly isBound: boolean;
  readonly hasEnded: boolean;
  readonly state: InvocationState;
  readonly dispatches: number;
}

const NOTHING: Model = {
  isReserved: false,
  isBound: false,
  hasEnded: false,
  state: "PENDING",
  dispatches: 0,
};

/** What becomes of the record; undefined where the act has no place. */
function follow(model: Model, next: Act): Model | undefined {
  if (next.kind === "reserve") return model.isReserved ? undefined : { ...model, isReserved: true };
  if (!model.isReserved || model.hasEnded) return undefined;
  const hasUnknownOutcome = model.state === "PENDING" && model.dispatches > 0;
  switch (next.kind) {
    case "bind":
      return { ...model, isBound: true };
    case "charge":
      return model;
    case "dispatch":
      return model.isBound
        ? { ...model, state: "PENDING", dispatches: model.dispatches + 1 }
        : undefined;
    case "retract":
      return hasUnknownOutcome ? { ...model, state: "FAILED_RETRYABLE" } : undefined;
    case "await":
      return hasUnknownOutcome ? model : undefined;
    case "settle": {
      const { state } = next;
      const ended = { ...model, state, hasEnded: true };
      if (state === "COMPLETED" || state === "EXPIRED")
        return hasUnknownOutcome ? ended : undefined;
      return model.state === state || LEGAL.has(`${model.state} > ${state}`) ? ended : undefined;
    }
  }
}

function perform(ledger: InvocationLedger, next: Act): void {
  switch (next.kind) {
    case "reserve":
      return void ledger.admit(CALL, { step: 1, part: 0 }, 7);
    case "bind":
      return void ledger.bind(OPERATION, BINDING);
    case "charge":
      return ledger.charge(OPERATION, { cost: 1 });
    case "dispatch":
      return ledger.dispatch(OPERATION, 1);
    case "retract":
      return ledger.retract(OPERATION);
    case "await":
      return ledger.awaitOutcome(OPERATION, 9);
    case "settle":
      return ledger.end(OPERATION, next.state, END);
  }
}

test("on no walk does an illegal move get through, and every legal one does; the journal gets what the ledger shows", () => {
  fc.assert(
    fc.property(fc.array(act, { minLength: 1, maxLength: 14 }), (walk) => {
      const journaled: ToolInvocationRecord[] = [];
      const ledger = new InvocationLedger({ record: (record) => journaled.push(record) }, []);
      let model = NOTHING;
      for (const next of walk) {
        const followed = follow(model, next);
        const before = ledger.find(OPERATION);
        const count = journaled.length;
        if (!followed) {
          expect(() => perform(ledger, next)).toThrow();
          expect(ledger.find(OPERATION)).toBe(before);
          expect(journaled.length).toBe(count);
          continue;
        }
        perform(ledger, next);
        model = followed;
        const { state, dispatches, end } = ledger.find(OPERATION) ?? {};
        expect([state, dispatches, end !== undefined]).toEqual([
          model.state,
          model.dispatches,
          model.hasEnded,
        ]);
        expect(journaled.at(-1)).toBe(ledger.find(OPERATION));
      }
      expect([ledger.open().length, ledger.ended().length]).toEqual([
        model.isReserved && !model.hasEnded ? 1 : 0,
        model.hasEnded ? 1 : 0,
      ]);
    }),
    { numRuns: 1_000 },
  );
});
