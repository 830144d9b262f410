import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { ok } from "../../src/protocol/outcome/result.ts";
import { beforeEachFile } from "../shared/fresh-state.ts";

/** What the survey tells people, and what it has found before; each test sets it. */
export const survey: { details: unknown; found: readonly unknown[]; runs: number } = {
  details: undefined,
  found: [],
  runs: 0,
};
beforeEachFile(() => Object.assign(survey, { details: undefined, found: [], runs: 0 }));

/** Writes one row, and tells people more than the model. */
export const surveyHouse = defineTool({
  name: "lab__plan_house",
  version: "1.0.0",
  description: "Measures a house.",
  input: v.strictObject({}),
  output: v.strictObject({ rooms: v.number() }),
  details: v.strictObject({
    plan: v.string(),
    doors: v.optional(v.array(v.strictObject({ wide: v.number() }))),
    keeper: v.optional(v.string()),
  }),
  sideEffectClass: "EPHEMERAL_WRITE",
  effect: "state_change",
  redaction: { args: [], output: ["rooms"], details: ["plan", "doors.*.wide"] },
  capabilities: ["progress", "auth"],
  requiresConnection: true,
  security: { untrustedOutput: true },
  async execute(_args, _context, { progress, auth, signal }) {
    survey.runs++;
    const secret = await auth.getAccessToken();
    for (const found of survey.found) {
      progress.report({ details: withSecret(found, secret) });
      // Reports that follow each other too soon are dropped.
      await new Promise((resolve) => setTimeout(resolve, 110));
      if (signal.aborted) break;
    }
    if (survey.details === undefined) return ok({ rooms: 4 });
    return { ...ok({ rooms: 4 }), details: withSecret(survey.details, secret) };
  },
});

/** Puts the secret of the connection where a test wrote SECRET. */
function withSecret(value: unknown, secret: string): JsonObject {
  return JSON.parse(JSON.stringify(value).replaceAll("SECRET", secret)) as JsonObject;
}
