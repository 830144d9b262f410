import * as v from "valibot";
import {
  findProtoKey,
  hasFiniteNumbers,
  MAX_JSON_DEPTH,
  nestsTooDeep,
} from "../protocol/json/guard.ts";
import { toPointer } from "../protocol/json/pointer.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { formatExpectation } from "../protocol/text/format-expectation.ts";
import { problem } from "./problem.ts";

/** Largest request body. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads a JSON body of a known shape.
 * Threat: a body that lies about its length, never ends, nests without end, or carries `__proto__`.
 * It is counted as it arrives, measured for depth before it is parsed, and checked before it is used.
 * Where a misplaced name may be a secret, `fields` holds the names that a pointer may repeat.
 * Contract: never throws for anything a client sends; the failure is the answer to send.
 */
export async function readJson<T>(
  request: Request,
  schema: v.GenericSchema<unknown, T>,
  fields?: ReadonlySet<string>,
): Promise<Result<T, Response>> {
  if (!isJson(request.headers.get("content-type"))) return fail(problem("unsupported_media_type"));
  const text = await readText(request);
  if (!text.ok) return text;
  if (nestsTooDeep(text.value)) {
    return fail(problem("json_too_deep", { detail: `At most ${MAX_JSON_DEPTH} levels.` }));
  }
  let value: unknown;
  try {
    value = JSON.parse(text.value);
  } catch {
    return fail(problem("invalid_json"));
  }
  const path = findProtoKey(value);
  if (path) {
    const errors = [
      { pointer: toPointer(known(path, fields)), message: "no key may be named __proto__" },
    ];
    return fail(problem("forbidden_key", { errors }));
  }
  // One fault is enough: a hostile body has a million of them.
  // A schema of ours may word its expectation; where it does not, valibot would repeat what came.
  const parsed = v.safeParse(schema, value, { abortEarly: true, message: formatExpectation });
  if (!parsed.success) {
    return fail(problem("invalid_request", { errors: listIssues(parsed.issues, fields) }));
  }
  // 1e999 is JSON, and no number that could be stored, sent on or compared; where a schema takes any.
  return hasFiniteNumbers(value) ? ok(parsed.output) : fail(problem("number_too_large"));
}

function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(?:;.*)?$/i.test(contentType ?? "");
}

async function readText(request: Request): Promise<Result<string, Response>> {
  const tooLarge = (): Result<string, Response> =>
    fail(problem("body_too_large", { detail: `At most ${MAX_BODY_BYTES} bytes.` }));
  if (Number(request.headers.get("content-length") ?? 0) > MAX_BODY_BYTES) return tooLarge();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const pieces: string[] = [];
  let bytes = 0;
  try {
    for await (const chunk of request.body ?? []) {
      bytes += chunk.byteLength;
      if (bytes > MAX_BODY_BYTES) return tooLarge();
      pieces.push(decoder.decode(chunk, { stream: true }));
    }
    pieces.push(decoder.decode());
  } catch {
    return fail(problem("invalid_encoding"));
  }
  return ok(pieces.join(""));
}

function listIssues(
  issues: readonly v.BaseIssue<unknown>[],
  fields: ReadonlySet<string> | undefined,
): readonly { readonly pointer: string; readonly message: string }[] {
  return issues.map((issue) => ({
    pointer: toPointer(
      known(
        (issue.path ?? []).map(({ key }) => key),
        fields,
      ),
    ),
    message: `expected ${issue.message}`,
  }));
}

/** Ends a path before the first name that it may not repeat. */
function known(
  path: readonly unknown[],
  fields: ReadonlySet<string> | undefined,
): readonly unknown[] {
  const end = fields ? path.findIndex((key) => !fields.has(String(key))) : -1;
  return end === -1 ? path : path.slice(0, end);
}
