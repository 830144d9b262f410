import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { problem } from "./problem.ts";

const REVISION = /^"([1-9][0-9]{0,14})"$/;

/** Formats a revision as an entity tag. */
export function toETag(revision: number): string {
  return `"${revision}"`;
}

/**
 * Reads the revision that a request replaces: `If-Match: "<revision>"`. The value is undefined for
 * the first revision: `If-None-Match: *`.
 * Contract: accepts exactly one of the two headers, in exactly these forms; the failure is the
 * response to send.
 */
export function readPrecondition(headers: Headers): Result<number | undefined, Response> {
  const ifMatch = headers.get("if-match");
  const ifNoneMatch = headers.get("if-none-match");
  if (ifMatch === null && ifNoneMatch === null)
    return fail(problem("precondition_required", FORMS));
  if (ifMatch === null && ifNoneMatch === "*") return ok(undefined);
  const revision = ifNoneMatch === null && REVISION.exec(ifMatch ?? "")?.[1];
  return revision ? ok(Number(revision)) : fail(problem("precondition_invalid", FORMS));
}

const FORMS = { detail: 'Send If-Match: "<revision>", or If-None-Match: * if there is none yet.' };
