import { ok } from "../../protocol/outcome/result.ts";
import type { Gate } from "./gate.ts";
import { utf8Bytes } from "../../protocol/text/encoding.ts";
import { refuseTooLarge } from "./parse-arguments.ts";
import type { ArgumentsSubject } from "./subjects.ts";

/**
 * The gate `arguments`: checks the arguments against the contract's schema in one pass: shape, then
 * types, then bounds. The tool owns its schema; the runner never touches it (seeds/000 #27). Then
 * checks the size of the validated arguments, which a client may have to send back.
 * Fails: STRUCTURAL_VIOLATION, TYPE_MISMATCH, OUT_OF_BOUNDS; the most basic class wins.
 */
export const checkArguments: Gate<ArgumentsSubject> = {
  name: "arguments",
  check({ tool, args }) {
    const valid = tool.validateInput(args);
    if (!valid.ok) return valid;
    // Numbers such as 1e20 and defaults make the arguments longer than the text of the model.
    const bytes = utf8Bytes(JSON.stringify(valid.value));
    return bytes > tool.maxArgumentsBytes ? refuseTooLarge(tool) : ok({ args: valid.value });
  },
};
