import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { fail, ok } from "../../src/protocol/outcome/result.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

interface Draft {
  revision: number;
  title: string;
  readonly secret: string;
}

const FIRST: Draft = { revision: 1, title: "Noon", secret: "nobody-reads-this" };

/** The draft that a tool revises, and a note that only its author may read. */
export const draft: Draft = { ...FIRST };
beforeEachFile(() => void Object.assign(draft, FIRST));

/** Revises a draft of strangers, if nobody revised it since the model read it. */
export const revise = defineTool({
  name: "lab__revise",
  version: "1.0.0",
  description: "Gives the draft another title.",
  input: v.strictObject({ revision: v.number(), title: v.string(), late: v.optional(v.boolean()) }),
  output: v.strictObject({ revision: v.number() }),
  sideEffectClass: "LOW_RISK_INTERNAL",
  effect: "state_change",
  redaction: {
    args: ["revision", "title"],
    output: ["revision"],
    state: ["revision", "title"],
  },
  capabilities: [],
  security: { untrustedOutput: true, dataClassification: "confidential" },
  errors: { revised: "STALE_STATE" },
  checkState: ({ revision, late }) => (late ? ok(null) : checkRevision(revision)),
  preview: ({ title }) => Promise.resolve({ before: { ...draft }, after: { ...draft, title } }),
  execute: ({ revision, title }) => {
    const current = checkRevision(revision);
    if (!current.ok) return { ...current, failure: { ...current.failure, notCommitted: true } };
    Object.assign(draft, { revision: revision + 1, title });
    return ok({ revision: draft.revision });
  },
});

function checkRevision(revision: number) {
  if (revision === draft.revision) return ok(null);
  const errors = [{ field: "/revision", code: "revised", message: "somebody revised the draft" }];
  return fail({ taxonomyClass: "STALE_STATE" as const, errors });
}
