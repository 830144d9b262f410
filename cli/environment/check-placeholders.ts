import type { AnyToolContract } from "../../src/contracts/define/definition.ts";
import { PLACEHOLDERS } from "../scaffold/placeholders.ts";
import type { Finding } from "./finding.ts";

/** Finds the tools that still say what `interlock new tool` wrote. Models and people read it. */
export function checkPlaceholders(tools: readonly AnyToolContract[]): readonly Finding[] {
  return tools.flatMap((tool): Finding[] => {
    // The texts stand in functions, which are not called here with arguments of no caller.
    const texts: readonly (readonly [field: string, text: string, placeholder: string])[] = [
      ["description", tool.description, PLACEHOLDERS.description],
      ["describe", codeOf(tool, "describe"), PLACEHOLDERS.consequence],
      ["verification", codeOf(tool.verification ?? {}, "expect"), PLACEHOLDERS.reference],
    ];
    return texts
      .filter(([, text, placeholder]) => text.includes(placeholder))
      .map(([field, , placeholder]) => ({
        level: "error",
        place: tool.name,
        message: `${field} still says "${placeholder}"`,
      }));
  });
}

function codeOf(owner: object, method: string): string {
  return String(Reflect.get(owner, method));
}
