import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/json/value.ts";
import { maskValues } from "../../src/protocol/secrets/mask-values.ts";
import { toVisible } from "../../src/protocol/text/visible.ts";
import { readText } from "../bounded-input.ts";
import { CommandError, messageOf } from "../command.ts";
import type { Target } from "./target.ts";

/** What a deployment answered, or why there is no answer. */
export type Answer =
  | { readonly kind: "ok"; readonly body: JsonObject; readonly etag: string | undefined }
  | { readonly kind: "refused"; readonly refusal: Refusal }
  | { readonly kind: "no_answer"; readonly reason: string };

/** A problem document of the deployment, or what another server in its place answered. */
export interface Refusal {
  readonly status: number;
  /** `unknown` when the answer is no problem document. */
  readonly code: string;
  /** What is wrong, with the fields. */
  readonly message: string;
  readonly fields: readonly RefusedField[];
}

/** A field that a problem document names. */
export interface RefusedField {
  /** JSON pointer. */
  readonly pointer: string;
  readonly message: string;
}

export interface DeploymentRequest {
  readonly method: "GET" | "PUT" | "POST" | "DELETE";
  /** Such as `/v1/policy`. */
  readonly path: string;
  readonly body?: JsonValue;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Send = (request: DeploymentRequest) => Promise<Answer>;

const TIMEOUT_MS = 30_000;
function adviseToken(environment: string): string {
  return (
    `For the environment ${environment}, INTERLOCK_TOKEN (a variable, or a line of ` +
    `.dev.vars.${environment}) must hold a bearer token of the tenant whose documents these are, ` +
    "which this deployment accepts. docs/environments.md, section Secrets, says how to make one, " +
    "and its scopes."
  );
}

/**
 * Where requests go, and as whom. Without a token, only `interlock dev` answers; `own` are headers
 * of each request.
 */
export type ClientTarget = Pick<Target, "environment" | "url"> &
  Partial<Pick<Target, "token">> & { readonly own?: Readonly<Record<string, string>> };

/** Makes the function that sends requests to a deployment. It never throws. */
export function createClient(target: ClientTarget): Send {
  return async (request) => {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    try {
      const response = await open(target, request, { signal });
      return readAnswer(response, await readText(response), target);
    } catch (error) {
      return { kind: "no_answer", reason: reasonOf(error) };
    }
  };
}

/**
 * Opens an answer of any length, such as the export of a log.
 * Fails: throws a CommandError with what the deployment answered instead.
 */
export async function openAnswer(target: ClientTarget, path: string): Promise<Response> {
  const opened = await open(target, { method: "GET", path }).catch(reasonOf);
  if (typeof opened === "string") throw new CommandError(`No answer: ${opened}`);
  if (opened.ok) return opened;
  const answer = readAnswer(opened, await readText(opened), target);
  throw new CommandError(describeAnswer(path, answer));
}

/** Says that an answer is not what a request asked for. */
export function describeAnswer(path: string, answer: Answer): string {
  if (answer.kind === "no_answer") return `No answer: ${answer.reason}`;
  const what = path.split("?")[0];
  if (answer.kind === "ok") return `${what}: the answer is not one of Interlock.`;
  const { status, code, message } = answer.refusal;
  return `${what}: ${status} ${code}. ${message}`;
}

function open(
  { url, token, own }: ClientTarget,
  { method, path, body, headers }: DeploymentRequest,
  options: RequestInit = {},
): Promise<Response> {
  return fetch(`${url}${path}`, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { "content-type": "application/json" }),
      ...own,
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    // Threat: a redirect hands the token and the secrets to another host.
    redirect: "manual",
    ...options,
  });
}

function reasonOf(error: unknown): string {
  const { cause } = error as { readonly cause?: unknown };
  return messageOf(cause ?? error);
}

function readAnswer(
  response: Response,
  text: string,
  { environment, token }: ClientTarget,
): Answer {
  const body = parseObject(text);
  if (response.ok && (body || response.status === 204)) {
    return { kind: "ok", body: body ?? {}, etag: response.headers.get("etag") ?? undefined };
  }
  const { status, code, message, fields } = readRefusal(response.status, body, environment);
  // Threat: a server that repeats the token, for a terminal or the log of a CI.
  const mask = maskValues(token === undefined ? [] : [token]);
  const shown = fields.map((field) => mask({ ...field }));
  return {
    kind: "refused",
    refusal: { status, code: mask(code), message: mask(message), fields: shown },
  };
}

function readRefusal(status: number, body: JsonObject | undefined, environment: string): Refusal {
  const code = body?.["code"];
  if (!body || typeof code !== "string") {
    const message = "The answer is not one of Interlock. Check the address in the environment.";
    return { status, code: "unknown", message, fields: [] };
  }
  const sentence = body["detail"] ?? body["title"];
  const fields = readFields(body["errors"]);
  const texts = fields.map(({ pointer, message }) => `${pointer} ${message}`);
  const places = texts.length > 0 ? ` (${texts.join("; ")})` : "";
  const advice = status === 401 ? ` ${adviseToken(environment)}` : "";
  return { status, code: show(code), message: `${show(sentence)}${places}${advice}`, fields };
}

/** Reads the fields that an answer names: as errors, or as warnings. */
export function readFields(list: JsonValue | undefined): readonly RefusedField[] {
  const named = [list].filter(isJsonArray).flat().filter(isJsonObject);
  return named.map(({ pointer, message }) => ({ pointer: show(pointer), message: show(message) }));
}

/** Threat: control characters of an answer that a terminal obeys. */
function show(value: unknown): string {
  return typeof value === "string" ? toVisible(value).text : "";
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
