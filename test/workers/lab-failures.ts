import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { TAXONOMY_CLASSES, isFailureClass } from "../../src/protocol/outcome/taxonomy.ts";
import { fail } from "../../src/protocol/outcome/result.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** The classes with which the tools below failed, one for each attempt. */
export const failed: string[] = [];
beforeEachFile(() => {
  failed.length = 0;
});

export const FAILURE_CLASSES = TAXONOMY_CLASSES.filter(isFailureClass);

const failing = (kind: object): AnyToolContract =>
  defineTool({
    version: "1.0.0",
    description: "Fails as it is told.",
    input: v.strictObject({ as: v.picklist(FAILURE_CLASSES) }),
    output: v.strictObject({}),
    redaction: { args: ["as"], output: [] },
    capabilities: [],
    runtime: { maxRetries: 1 },
    errors: Object.fromEntries(FAILURE_CLASSES.map((one) => [one.toLowerCase(), one])),
    execute: ({ as }: { readonly as: (typeof FAILURE_CLASSES)[number] }) => {
      failed.push(as);
      const errors = [{ field: null, code: as.toLowerCase(), message: "as told" }];
      return fail({ taxonomyClass: as, retryAfterMs: 1, errors });
    },
    ...kind,
  } as never) as AnyToolContract;

const WRITE = { sideEffectClass: "LOW_RISK_INTERNAL", effect: "state_change" };

/** Tools that fail with any class: a read, a write, and one that may be repeated under its key. */
export const LAB_FAILURES: readonly AnyToolContract[] = [
  failing({ name: "lab__fail_read", sideEffectClass: "READ_ONLY", effect: "read_only" }),
  failing({ name: "lab__fail_write", ...WRITE }),
  failing({ name: "lab__fail_keyed", ...WRITE, idempotency: { supported: true } }),
];
