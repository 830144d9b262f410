import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { problem } from "./problem.ts";

const REVISION = /^"([1-9][0-9]{0,14})"$/;

/** Writes a revision as an entity tag. */
export function toETag(revision: number): string {
  return `"${revision}"`;
}

/**
 * Reads which revision a request means to replace: `If-Match: "<revision>"`, or `If-None-Match: *` for
 * the first one, which is undefined here.
 * Contract: exactly one of the two, in exactly these forms; the failure is the answer to send.
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

const FORMS = { detail: 'Either If-Match: "<revision>" or, for the first one, If-None-Match: *' };
