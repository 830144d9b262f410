import * as v from "valibot";
import { fail, ok, type Result } from "../outcome/result.ts";
import { assistantDocument, type AssistantDocument, type AssistantInput } from "./document.ts";
import { assistantId, DEFAULT_ASSISTANT_ID } from "./id.ts";

/** The deployment's own assistants by their id; there is always a default one. */
export type DeclaredAssistants = ReadonlyMap<string, AssistantDocument>;

/**
 * Checks the assistants that a deployment declares in code. The default one, if it declares none,
 * has no instructions and every tool of the policy.
 * Contract: pure. Fails: one sentence for each problem, for the operator.
 */
export function readAssistants(
  declared: Readonly<Record<string, AssistantInput>>,
): Result<DeclaredAssistants, readonly string[]> {
  const documents = new Map<string, AssistantDocument>();
  const problems: string[] = [];
  for (const [id, input] of Object.entries({ [DEFAULT_ASSISTANT_ID]: {}, ...declared })) {
    const read = v.safeParse(assistantDocument, input);
    if (!v.safeParse(assistantId, id).success) problems.push(`${id} is no id of an assistant`);
    else if (read.success) documents.set(id, read.output);
    else problems.push(`The assistant ${id} is not valid: ${describe(read.issues[0])}`);
  }
  return problems.length > 0 ? fail(problems) : ok(documents);
}

function describe(issue: v.BaseIssue<unknown>): string {
  return `${v.getDotPath(issue) ?? "it"}: ${issue.message}`;
}
