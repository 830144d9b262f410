import type { AssistantDocument } from "./document.ts";
import { contextVariables } from "./template.ts";

/** Something of a valid document that cannot work; `pointer` is a JSON pointer into it. */
export interface AssistantWarning {
  readonly pointer: string;
  readonly message: string;
}

/** Finds variables of the instructions that nobody supplies. Contract: pure. */
export function warnAboutAssistant(
  { instructions }: Pick<AssistantDocument, "instructions">,
  { hasContextHook }: { readonly hasContextHook: boolean },
): readonly AssistantWarning[] {
  const missing = hasContextHook ? [] : contextVariables(instructions);
  return missing.map((name) => ({
    pointer: "/instructions",
    message: `{{context.${name}}} has no value, because the deployment has no context hook: every run fails`,
  }));
}
