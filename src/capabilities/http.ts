import type { UpstreamTarget } from "../protocol/connection/upstream-url.ts";
import type { JsonValue } from "../protocol/json/value.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { Result } from "../protocol/outcome/result.ts";

/** A request to an upstream of the contract, or to one of its hosts. */
export type HttpRequest = HttpMessage &
  (
    | (UpstreamTarget & {
        /** A name in `security.upstreams`. */
        readonly upstream: string;
        readonly url?: never;
      })
    | { readonly url: string; readonly upstream?: never }
  );

interface HttpMessage {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Headers about routing, framing or the idempotency key are refused. */
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON. */
  readonly body?: JsonValue;
}

/** The response of a service, whatever its status. All of it is untrusted. */
export interface HttpAnswer {
  readonly status: number;
  /** `content-type`, `etag`, `last-modified` and `location`, if present. */
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
  /** Present when the service declares JSON and the body is safe JSON. */
  readonly json?: JsonValue;
  /** Time until the request may be repeated, if the service said it. */
  readonly retryAfterMs?: number;
}

/**
 * Sends HTTP requests of one invocation to the upstreams and hosts of the tool's contract. It is a
 * tool's only way to the network. If the tool changes something, every request carries the
 * invocation's key.
 * Contract: every status is an answer; redirects are not followed. A mutating tool sends at most
 * one request other than GET and HEAD, and none from `checkState` and `reconcile`. Throws when the
 * invocation is over. Throws too when it refuses a request after the changing one, because a
 * failure would claim that nothing happened.
 * Fails: http_refused, http_unavailable, http_unreadable; no failure repeats text of the service.
 */
export interface HttpClient {
  send(request: HttpRequest): Promise<Result<HttpAnswer, ToolFailure>>;
}

/** What one invocation may send. */
export interface EgressGrant {
  /** Hosts as a parsed address shows them, with a port unless it is the default port. */
  readonly hosts: readonly string[];
  /** Names of upstreams. */
  readonly upstreams: readonly string[];
  readonly keyHeader: string;
  /** The invocation's idempotency key; present exactly when the tool changes something. */
  readonly key?: string;
  /** With a key: whether a request may change something, or only read. */
  readonly mayAct: boolean;
  /** The tool has credentials and may set `authorization`. */
  readonly mayAuthorise: boolean;
  readonly maxAnswerBytes: number;
  /** The signal of the invocation. */
  readonly signal: AbortSignal;
  /** The event part that shows the call. Absent: the request is of no call. */
  readonly part?: number;
}

/** Binds HTTP clients. Contract: a bound client reaches only what its grant names. */
export interface Egress {
  bind(grant: EgressGrant): HttpClient;
  /** Lists the addresses of upstreams, as the deployment binds them now. */
  addressesOf(upstreams: readonly string[]): readonly string[];
}
