import { lazyPattern } from "../text/lazily.ts";
import type { Principal } from "../identity/principal.ts";
import { personOf } from "../identity/principal.ts";

/**
 * A variable: `{{actorId}}`, or `{{context.<name>}}` with a value that the deployment's hook gives.
 */
const VARIABLE = /\{\{ ?(tenantId|actorId|personId|roles|context\.[a-zA-Z]\w{0,62}) ?\}\}/g;

const FORM =
  "a text whose {{variables}} are tenantId, actorId, personId, roles or context.<name> of the hook";

/** A check of a template, and what it expects: every `{{` begins a known variable. */
export const checkTemplate = [
  (template: string) => !template.replaceAll(VARIABLE, "").includes("{{"),
  FORM,
] as const;

/** Lists the context variables of a template, each once: `plan` of `{{context.plan}}`. */
export function contextVariables(template: string): readonly string[] {
  const names = [...template.matchAll(VARIABLE)].map(([, name = ""]) => name);
  const own = names.filter((name) => name.startsWith("context."));
  return [...new Set(own.map((name) => name.slice("context.".length)))];
}

/** Values for the variables of a template. None of them comes from a request. */
export interface TemplateValues {
  readonly principal: Pick<Principal, "tenantId" | "actorId" | "subjectId" | "roles">;
  /** Values that the deployment's hook gave. */
  readonly context: ReadonlyMap<string, string>;
}

/**
 * Fills in a template; undefined when a value is missing.
 * Threat: a value that holds a variable or a new paragraph of instructions. Values are not read as
 * templates, and each stays on one line, without `<`, `>` and hidden characters.
 * Contract: pure; linear.
 */
export function fillTemplate(
  template: string,
  { principal, context }: TemplateValues,
): string | undefined {
  const { tenantId, actorId, roles } = principal;
  const values = new Map<string, string>([
    ["tenantId", tenantId],
    ["actorId", actorId],
    ["personId", personOf(principal)],
    ["roles", roles.join(", ")],
  ]);
  for (const [key, value] of context) values.set(`context.${key}`, value);
  let isComplete = true;
  const filled = template.replaceAll(VARIABLE, (_, variable: string) => {
    const value = values.get(variable);
    isComplete &&= value !== undefined;
    return toOneLine(value ?? "");
  });
  return isComplete ? filled : undefined;
}

/** Control characters, line and paragraph separators, format characters, and angle brackets. */
const notPlain = lazyPattern(String.raw`[\p{C}\p{Zl}\p{Zp}<>]+`, "gu");

function toOneLine(value: string): string {
  return value.replaceAll(notPlain(), " ");
}
