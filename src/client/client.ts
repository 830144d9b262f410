import type { InvokedCall, RunState } from "../../.interlock/api.ts";
import type { Result } from "../protocol/outcome/result.ts";
import { createCall, type BodyOf, type Call, type CallOptions } from "./call.ts";
import type { Failure } from "./failure.ts";
import type { Followed } from "./open-stream.ts";
import { createParts, type ClientParts } from "./parts.ts";
import { toPorts, type ClientOptions } from "./ports.ts";
import { RunStream, type FollowOptions } from "./run-stream.ts";

/** Options of a request that is one request under one key. */
export interface ChatOptions extends FollowOptions {
  /** The idempotency key. Absent: one is made, and kept. */
  readonly key?: string | undefined;
}

/** A client of one deployment. Contract: no method throws for what a server or a network does. */
export interface Client extends ClientParts {
  /** Starts a run, and follows it to its end. A lost connection goes on after the last event. */
  chat(body: BodyOf<"POST /v1/chat">, options?: ChatOptions): RunStream;
  /** Follows a run that goes on, or reads one that has ended. */
  follow(followed: Followed, options?: FollowOptions): RunStream;
  /** Calls one tool without a model. A run that waits for people is answered as its state. */
  invoke(
    toolId: string,
    body: BodyOf<"POST /v1/tools/{id}/invoke">,
    options?: CallOptions,
  ): Promise<Result<InvokedCall | RunState, Failure>>;
  /** Sends one request of any operation. */
  readonly call: Call;
}

/** Makes a client for browsers, Node and Workers. */
export function createClient(options: ClientOptions): Client {
  const ports = toPorts(options);
  const call = createCall(ports);
  return {
    ...createParts(call, ports.wait),
    chat: (body, { key = ports.newKey(), ...follow } = {}) =>
      new RunStream(ports, { body, key }, follow),
    follow: (followed, follow = {}) => new RunStream(ports, followed, follow),
    invoke: (toolId, body, given = {}) =>
      call("POST /v1/tools/{id}/invoke", { path: { id: toolId }, body, ...given }) as never,
    call,
  };
}
