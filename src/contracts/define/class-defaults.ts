import type { SideEffectClass } from "../../protocol/tool/effect.ts";
import type { IdempotencySection, TransactionalSection } from "./sections.ts";

/** Defaults of one side-effect class (seeds/004, "Side-Effect Classification Model"). */
export interface ClassDefaults {
  readonly transactional: TransactionalSection;
  readonly idempotency: IdempotencySection;
  readonly maxRetries: number;
}

const DAY_SECONDS = 86_400;

const read: ClassDefaults = {
  transactional: {
    confirmationRequired: false,
    semantics: "read_only",
    compensationTool: null,
    verificationRequired: false,
  },
  idempotency: {
    supported: true,
    required: false,
    keyHeader: null,
    ttlSeconds: null,
  },
  maxRetries: 2,
};

/** A write must not be repeated, and cannot be undone, until its author says that it may be. */
const write: ClassDefaults = {
  transactional: { ...read.transactional, semantics: "irreversible_pivot" },
  idempotency: {
    supported: false,
    required: true,
    keyHeader: null,
    ttlSeconds: DAY_SECONDS,
  },
  maxRetries: 0,
};

const confirmed: ClassDefaults = {
  ...write,
  transactional: { ...write.transactional, confirmationRequired: true, verificationRequired: true },
};

/** The author has to plan how to undo the call, or to say that nobody can (seeds/004). */
const planned = (defaults: ClassDefaults): ClassDefaults => ({
  ...defaults,
  transactional: { ...defaults.transactional, semantics: "compensable_write" },
});

/** Defaults by side-effect class, for what an author leaves out. */
export const CLASS_DEFAULTS: { readonly [Class in SideEffectClass]: ClassDefaults } = {
  READ_ONLY: read,
  EPHEMERAL_WRITE: {
    ...write,
    idempotency: { ...write.idempotency, required: false },
  },
  LOW_RISK_INTERNAL: write,
  MEDIUM_RISK_WRITE: planned(write),
  HIGH_RISK_EXTERNAL: confirmed,
  CRITICAL_MUTATION: planned(confirmed),
};
