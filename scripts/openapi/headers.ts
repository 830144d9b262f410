import type { HandlerFacts } from "./read-handlers.ts";
import type { Schema } from "./schemas-of-types.ts";

interface RequestHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: Schema;
  readonly example: string;
}

/** Request headers that handlers read, by the names under which they read them. */
export const REQUEST_HEADERS: Readonly<Record<string, RequestHeader>> = {
  "idempotency-key": {
    name: "Idempotency-Key",
    description:
      "Requests of one caller with the same key are one request. A tool that changes something " +
      "needs it when it is called without a model. Send the same body with it.",
    schema: { type: "string", minLength: 1, maxLength: 257, pattern: String.raw`^[\x20-\x7e]+$` },
    example: "0b0e2c6e-5d5c-4f0e-9a53-2f1f0a4b7d11",
  },
  "last-event-id": {
    name: "Last-Event-ID",
    description: "The `id` of the last event that the reader has. The stream goes on after it.",
    schema: { type: "string", pattern: String.raw`^\d+(-\d+)?$` },
    example: "0-1",
  },
  "if-match": {
    name: "If-Match",
    description: "The revision that the request replaces, in quotation marks. Or If-None-Match.",
    schema: { type: "string", pattern: '^"[1-9][0-9]{0,14}"$' },
    example: '"1"',
  },
  "if-none-match": {
    name: "If-None-Match",
    description: "A PUT of the first revision sends `*`. A GET sends the ETag that it has.",
    schema: { type: "string" },
    example: "*",
  },
};

/** Headers of the connection and of browsers; handlers read them, and clients need not know. */
export const OTHER_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "cf-connecting-ip",
  "content-length",
  "content-type",
  "origin",
  "x-run-id",
]);

interface ResponseHeader {
  readonly description: string;
  readonly example: string;
  /** Which answers of a handler have it. */
  readonly isOf: (answer: AnswerFacts) => boolean;
}

/** One answer of a handler. */
export interface AnswerFacts extends Pick<HandlerFacts, "names"> {
  /** One of its codes says when to try again. */
  readonly isRetried: boolean;
  readonly path: string;
  readonly status: number;
  readonly isStream: boolean;
  readonly hasOtherShape: boolean;
}

/** Names of functions that answer with the stream of a run. */
const STREAMS = ["startRun", "followRun"];
const ofRun = ({ names, isStream, status }: AnswerFacts): boolean =>
  (isStream && STREAMS.some((name) => names.has(name))) ||
  ((status < 300 || status === 502) && names.has("answerFolded"));

/** Response headers that clients read. */
export const RESPONSE_HEADERS: Readonly<Record<string, ResponseHeader>> = {
  "Retry-After": {
    description: "Seconds until the request may succeed.",
    example: "1",
    isOf: ({ isRetried }) => isRetried,
  },
  "WWW-Authenticate": {
    description: "How to send a token.",
    example: "Bearer",
    isOf: ({ status }) => status === 401,
  },
  Allow: {
    description: "The methods that the address takes.",
    example: "GET, HEAD",
    isOf: ({ status }) => status === 405,
  },
  ETag: {
    description: "The revision or the hash of what the answer holds.",
    example: '"1"',
    isOf: ({ names, status }) =>
      [200, 304, 412, 503].includes(status) && (names.has("etag") || names.has("toETag")),
  },
  "X-Run-Id": {
    description: "Id of the run.",
    example: "run_4Qm9xT2cVb7K_pZ1sR8wLq0dE",
    isOf: (answer) =>
      ofRun(answer) ||
      ([200, 202, 409, 500, 502, 503].includes(answer.status) && answer.names.has("x-run-id")),
  },
  "X-Conversation-Id": {
    description: "Id of the conversation.",
    example: "run_4Qm9xT2cVb7K_pZ1sR8wLq0dE",
    isOf: ofRun,
  },
  "X-Wire": {
    description: "Protocol of the stream, and its revision.",
    example: "assistant-transport; revision=1",
    isOf: ofRun,
  },
  "X-Vercel-AI-UI-Message-Stream": {
    description: "Version of the UI message stream.",
    example: "v1",
    isOf: (answer) =>
      ofRun(answer) && (answer.path.startsWith("/api/") || answer.names.has("readWire")),
  },
  "Content-Disposition": {
    description: "Browsers save the answer as this file.",
    example: 'attachment; filename="image-1.png"',
    isOf: ({ names, status }) => status === 200 && names.has("content-disposition"),
  },
  "X-Audit-Head": {
    description: "Hash of the newest record of the log.",
    example: `sha256:${"0".repeat(64)}`,
    isOf: ({ names, status }) => status === 200 && names.has("x-audit-head"),
  },
  "X-Audit-Key": {
    description: "Public key (Ed25519, base64url) of the summaries of removed records.",
    example: "MCowBQYDK2VwAyEA",
    isOf: ({ names, status }) => status === 200 && names.has("x-audit-key"),
  },
  "X-Should-Retry": {
    description: "`false`: the client of OpenAI does not repeat the request.",
    example: "false",
    isOf: ({ hasOtherShape, status }) => hasOtherShape && status >= 400,
  },
};
