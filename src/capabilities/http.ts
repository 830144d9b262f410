import type { JsonValue } from "../protocol/json/value.ts";
import type { ToolFailure } from "../protocol/outcome/observation.ts";
import type { Result } from "../protocol/outcome/result.ts";

export interface HttpRequest {
  readonly method: "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly url: string;
  /** None that says where the request goes, how it is framed or which operation it is. */
  readonly headers?: { readonly [name: string]: string };
  /** Sent as JSON. */
  readonly body?: JsonValue;
}

/** What a service answered, whatever its status. All of it is the other side's, to be trusted by nobody. */
export interface HttpAnswer {
  readonly status: number;
  /** `content-type`, `etag`, `last-modified` and `location`, where they are there. */
  readonly headers: { readonly [name: string]: string };
  readonly text: string;
  /** Absent unless the service calls its body JSON, and it is. */
  readonly json?: JsonValue;
  /** When the same request may be made again, where the service said so. */
  readonly retryAfterMs?: number;
}

/**
 * The only way from a tool to the network: to the hosts of its contract, for one invocation, with that
 * invocation's key on every request if the tool changes something.
 * Contract: every status is an answer, and redirects are not followed. A tool that changes something
 * sends one request other than GET and HEAD, and none from `checkState` and `reconcile`. Throws when
 * the invocation is over, and for a request that is refused after the one that changes something:
 * then no failure may claim that nothing happened.
 * Fails: http_refused, http_unavailable, http_unreadable; nothing of the other side's is in a failure.
 */
export interface HttpClient {
  send(request: HttpRequest): Promise<Result<HttpAnswer, ToolFailure>>;
}

/** What one invocation may send. */
export interface EgressGrant {
  /** Hosts, with their ports where they are not the scheme's, as a parsed address shows them. */
  readonly hosts: readonly string[];
  readonly keyHeader: string;
  /** The invocation's key; present exactly when the tool changes something. */
  readonly key?: string;
  /** With a key: whether a request may change something, or only ask. */
  readonly mayAct: boolean;
  /** The tool holds credentials, which may go into `authorization`. */
  readonly mayAuthorise: boolean;
  readonly maxAnswerBytes: number;
  /** That of the invocation. */
  readonly signal: AbortSignal;
}

/** The network of a deployment. Contract: what it binds reaches nothing that the grant does not name. */
export interface Egress {
  bind(grant: EgressGrant): HttpClient;
}
