import * as v from "valibot";
import { defineTool } from "../../src/contracts/define/define-tool.ts";
import { ok } from "../../src/protocol/outcome/result.ts";

/** What the archive returns and nobody but operators may read. */
export const SHELFMARK = "shelfmark-7-of-nobody";

/** Returns more of a stranger's text than fits, or an output that breaks its contract. */
export const copyOut = defineTool({
  name: "lab__copy_out",
  version: "1.0.0",
  description: "Copies a text of the archive.",
  input: v.strictObject({ lines: v.number(), isBroken: v.optional(v.boolean()) }),
  output: v.strictObject({ lines: v.array(v.string()), shelfmark: v.string() }),
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: ["lines", "isBroken"], output: ["lines"] },
  capabilities: [],
  runtime: { maxResultBytes: 4 * 1024 },
  security: { untrustedOutput: true, dataClassification: "internal" },
  execute({ lines, isBroken }) {
    const text = Array.from(
      { length: lines },
      (_, at) => `Line ${at} <!-- hidden --> of a stranger`,
    );
    const whole = { lines: text, shelfmark: SHELFMARK };
    return ok(isBroken ? ({ ...whole, lines: SHELFMARK } as never) : whole);
  },
});
