import type { Operations } from "../../.interlock/api.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import { backoffMs } from "./backoff.ts";
import { readFailure, UNREACHABLE, type Failure } from "./failure.ts";
import type { CallPorts } from "./ports.ts";
import { sendAuthorised } from "./send-authorised.ts";

/** Method and path of an operation, as the document of the API names them. */
export type OperationName = keyof Operations;

/** What a request of an operation holds. */
export type Request<Name extends OperationName> = Operations[Name]["request"] & CallOptions;

/** The query of an operation. */
export type QueryOf<Name extends OperationName> = Operations[Name]["request"] extends {
  readonly query?: infer Query;
}
  ? NonNullable<Query>
  : never;

/** The body of an operation. */
export type BodyOf<Name extends OperationName> = Operations[Name]["request"] extends {
  readonly body: infer Body;
}
  ? Body
  : never;

/** The answer of an operation. */
export type AnswerOf<Name extends OperationName> = Operations[Name]["answer"];

/** What a call of an operation answers. */
export type Answered<Name extends OperationName> = Promise<Result<AnswerOf<Name>, Failure>>;

/** How a request is made. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
  /**
   * The idempotency key of an operation that takes one. Absent: one is made, and kept. `null`:
   * none, for a call that only reads; it is sent once.
   */
  readonly key?: string | null | undefined;
}

/** Fields may be left out where none is needed. */
export type Given<Name extends OperationName> =
  Partial<Request<Name>> extends Request<Name>
    ? [request?: Request<Name>]
    : [request: Request<Name>];

/** Sends one request of any operation. */
export type Call = <Name extends OperationName>(
  name: Name,
  ...given: Given<Name>
) => Answered<Name>;

/** Creates the function that sends the request of any operation and reads its answer. */
export function createCall(ports: CallPorts): Call {
  const call = async (name: string, request: AnyRequest = {}) => {
    const sent = await send(ports, name, request);
    return sent.ok ? readAnswer(sent.value) : sent;
  };
  return (name, ...[request]) => call(name, request) as never;
}

/** A request in any of its forms. */
export interface AnyRequest extends CallOptions {
  readonly path?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: unknown;
}

/** Operations whose requests are one request under one key. */
const KEYED = /^POST \/v1\/(?:chat|tools\/\{id\}\/invoke|runs\/\{id\}\/messages)$/;

/** How often a request is sent that may be repeated. */
const MAX_SENDS = 4;
const FIRST_DELAY_MS = 400;
/** A longer wish of a server is not obeyed: the page would look dead. */
const MAX_DELAY_MS = 60_000;

/**
 * Sends the request of an operation. A read, and a request under a key, is repeated while its
 * failure is transient: under the same key, so that it happens once.
 * Contract: never throws for what a server or a network does.
 */
async function send(
  ports: CallPorts,
  name: string,
  request: AnyRequest,
): Promise<Result<Response, Failure>> {
  const { signal } = request;
  const isKeyed = KEYED.test(name) && request.key !== null;
  const key = isKeyed ? (request.key ?? ports.newKey()) : undefined;
  const isRepeatable = isKeyed || name.startsWith("GET ");
  for (let attempt = 1; ; attempt += 1) {
    const sent = await sendOnce(ports, name, { ...request, key });
    const isOver = sent.ok || !sent.failure.isTransient || !isRepeatable;
    if (isOver || attempt >= MAX_SENDS || signal?.aborted) return sent;
    await pause(ports, { attempt, failure: sent.failure, signal });
    if (signal?.aborted) return sent;
  }
}

/** Waits before a repetition: as long as the server says, or longer each time. */
export function pause(
  { wait, random }: Pick<CallPorts, "wait" | "random">,
  { attempt, failure, signal = new AbortController().signal }: Pause,
): Promise<void> {
  const own = backoffMs({ firstMs: FIRST_DELAY_MS, attempt, random: random() });
  const asked = Math.min((failure?.retryAfterSeconds ?? 0) * 1_000, MAX_DELAY_MS);
  return wait(Math.max(own, asked), signal);
}

interface Pause {
  /** Counts from 1. */
  readonly attempt: number;
  readonly failure?: Pick<Failure, "retryAfterSeconds"> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Sends a request once. Contract: as of `send`. */
export async function sendOnce(
  ports: CallPorts,
  name: string,
  { path = {}, query = {}, headers = {}, body, key, signal }: AnyRequest,
): Promise<Result<Response, Failure>> {
  const [method = "", template = ""] = name.split(" ");
  const url = template.replaceAll(/\{(\w+)\}/g, (_, id: string) => toSegment(path[id]));
  const sent = new Headers();
  const all = { ...headers, "idempotency-key": key };
  for (const [header, value] of Object.entries(all)) if (value) sent.set(header, value);
  if (body !== undefined) sent.set("content-type", "application/json");
  try {
    const init = { method, headers: sent, ...(signal && { signal }) };
    const text = body === undefined ? {} : { body: JSON.stringify(body) };
    const address = `${url.slice(1)}${formatQuery(query)}`;
    const response = await sendAuthorised(ports, address, { ...init, ...text });
    return response.ok ? ok(response) : fail(await readFailure(response));
  } catch {
    return fail(UNREACHABLE);
  }
}

/** Threat: an id of dots would lead to another address. */
function toSegment(id: string | undefined): string {
  if (id === undefined || /^\.{0,2}$/.test(id)) throw new TypeError("A path needs an id.");
  return encodeURIComponent(id);
}

function formatQuery(query: NonNullable<AnyRequest["query"]>): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, `${value}`);
  }
  return given.size > 0 ? `?${given.toString()}` : "";
}

/** Reads an answer: JSON as its value, no body as undefined, and anything else as the response. */
async function readAnswer(response: Response): Promise<Result<unknown, Failure>> {
  const type = response.headers.get("content-type");
  if (type === null) return ok(undefined);
  if (!/^application\/json\b/.test(type)) return ok(response);
  try {
    return ok(await response.json());
  } catch {
    return fail(UNREACHABLE);
  }
}
