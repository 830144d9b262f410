import * as v from "valibot";
import {
  findDuplicateKey,
  findProtoKey,
  hasFiniteNumbers,
  MAX_JSON_DEPTH,
  nestsTooDeep,
} from "../../protocol/json/guard.ts";
import { toPointer } from "../../protocol/json/pointer.ts";
import type { JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { formatExpectation } from "../../protocol/text/format-expectation.ts";
import { replaceHalves } from "../../protocol/text/whole-characters.ts";
import { problem } from "./problem.ts";

/** Largest request body, 1 MiB. */
export const MAX_BODY_BYTES = 1024 * 1024;

/**
 * Reads a JSON body and checks its shape. A misplaced name may be a secret: `fields` holds the
 * names that an error pointer may repeat.
 * Threat: a body with a false length, without an end, with endless nesting, with `__proto__`, or
 * with a key twice. The bytes are counted on arrival, the depth is checked before parsing, the keys
 * before use.
 * Contract: never throws, whatever the client sends; the failure is the response to send.
 */
export async function readJson<T>(
  request: Request,
  schema: v.GenericSchema<unknown, T>,
  fields?: ReadonlySet<string>,
): Promise<Result<T, Response>> {
  const read = await readSizedJson(request, schema, { fields, maxBytes: MAX_BODY_BYTES });
  return read.ok ? ok(read.value.value) : read;
}

/** Reads a JSON body like `readJson`, of at most `maxBytes` bytes, and answers its size. */
export async function readSizedJson<T>(
  request: Request,
  schema: v.GenericSchema<unknown, T>,
  {
    fields,
    maxBytes,
  }: { readonly fields?: ReadonlySet<string> | undefined; readonly maxBytes: number },
): Promise<Result<{ readonly value: T; readonly bytes: number }, Response>> {
  if (!isJson(request.headers.get("content-type"))) return fail(problem("unsupported_media_type"));
  const read = await readText(request, maxBytes);
  if (!read.ok) return read;
  const { text, bytes } = read.value;
  const json = parseJson(text, fields);
  if (!json.ok) return json;
  const { value } = json.value;
  // One issue is enough: a hostile body can have a million.
  // Our text for an issue: the default text of valibot repeats the input.
  const parsed = v.safeParse(schema, value, { abortEarly: true, message: formatExpectation });
  if (!parsed.success) return fail(refuseShape(parsed.issues, fields));
  // 1e999 is valid JSON, but becomes Infinity, which cannot be stored or compared.
  return hasFiniteNumbers(value)
    ? ok({ value: parsed.output, bytes })
    : fail(problem("number_too_large"));
}

/** Parses JSON text that is neither too deep nor ambiguous. Fails: the response to send. */
export function parseJson(
  text: string,
  fields?: ReadonlySet<string>,
): Result<{ readonly value: unknown }, Response> {
  if (nestsTooDeep(text)) {
    return fail(
      problem("json_too_deep", {
        detail: `The body nests too deeply. Send at most ${MAX_JSON_DEPTH} levels.`,
      }),
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return fail(problem("invalid_json"));
  }
  const duplicate = findDuplicateKey(text);
  if (duplicate) return fail(refuseKey("duplicate_key", visiblePath(duplicate, fields)));
  const path = findProtoKey(value);
  return path ? fail(refuseKey("forbidden_key", visiblePath(path, fields))) : ok({ value });
}

/** Replaces half characters of a parsed value: neither a hash nor a provider takes them. */
export function replaceHalvesOf<Value>(parsed: Value): Value {
  return replaceHalves(parsed as JsonValue) as Value;
}

function refuseKey(code: keyof typeof KEY_ERRORS, path: readonly unknown[]): Response {
  return problem(code, { errors: [{ pointer: toPointer(path), message: KEY_ERRORS[code] }] });
}

const KEY_ERRORS = {
  duplicate_key: "the object holds this key twice",
  forbidden_key: "the key __proto__ is not allowed",
} as const;

function isJson(contentType: string | null): boolean {
  return /^application\/json\s*(?:;.*)?$/i.test(contentType ?? "");
}

async function readText(
  request: Request,
  maxBytes: number,
): Promise<Result<{ readonly text: string; readonly bytes: number }, Response>> {
  const tooLarge = (): Result<never, Response> =>
    fail(
      problem("body_too_large", {
        detail: `The body is too large. Send at most ${maxBytes} bytes.`,
      }),
    );
  if (Number(request.headers.get("content-length") ?? 0) > maxBytes) return tooLarge();
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false });
  const pieces: string[] = [];
  let bytes = 0;
  try {
    const reader = request.body?.getReader();
    // An iterator of the stream costs as much again as the read itself.
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read()) {
      bytes += read.value.byteLength;
      if (bytes > maxBytes) {
        reader?.cancel().catch(() => undefined);
        return tooLarge();
      }
      pieces.push(decoder.decode(read.value, { stream: true }));
    }
    pieces.push(decoder.decode());
  } catch {
    return fail(problem("invalid_encoding"));
  }
  return ok({ text: pieces.join(""), bytes });
}

/** Answers a body of another shape. */
export function refuseShape(
  issues: readonly v.BaseIssue<unknown>[],
  fields?: ReadonlySet<string>,
): Response {
  const errors = issues.map((issue) => ({
    pointer: toPointer(
      visiblePath(
        (issue.path ?? []).map(({ key }) => key),
        fields,
      ),
    ),
    message: `expected ${issue.message}`,
  }));
  return problem("invalid_request", { errors });
}

/** Cuts a path before the first name that the pointer must not repeat. */
function visiblePath(
  path: readonly unknown[],
  fields: ReadonlySet<string> | undefined,
): readonly unknown[] {
  const end = fields ? path.findIndex((key) => !fields.has(String(key))) : -1;
  return end === -1 ? path : path.slice(0, end);
}
