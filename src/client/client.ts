import type { InvokedCall, RunState } from "../../.interlock/api.ts";
import type { Result } from "../protocol/outcome/result.ts";
import { wait, type Wait } from "./backoff.ts";
import {
  readAnswer,
  send,
  type Answered,
  type AnyRequest,
  type BodyOf,
  type CallOptions,
  type CallPorts,
  type Given,
  type OperationName,
} from "./call.ts";
import type { Failure } from "./failure.ts";
import { createParts, type Call, type ClientParts } from "./parts.ts";
import { RunStream, type Followed, type FollowOptions } from "./run-stream.ts";

/** Where a deployment is, and how its caller proves who they are. */
export interface ClientOptions {
  /** Address of the deployment. */
  readonly baseUrl: string | URL;
  /** The access token. A function is asked before each request, and again after a 401. */
  readonly token?: string | (() => string | undefined | Promise<string | undefined>) | undefined;
  /** Sends the requests; the platform's own unless said. */
  readonly fetch?: typeof fetch | undefined;
  /** Waits before repetitions; the platform's own timer unless said. */
  readonly wait?: Wait | undefined;
}

/** Options of a request that is one request under one key. */
export interface ChatOptions extends FollowOptions, Pick<CallOptions, "key"> {}

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
  call<Name extends OperationName>(name: Name, ...given: Given<Name>): Answered<Name>;
}

/** Makes a client for browsers, Node and Workers. */
export function createClient(options: ClientOptions): Client {
  const ports = toPorts(options);
  const call = async (name: OperationName, request: AnyRequest = {}) => {
    const sent = await send(ports, name, request);
    return sent.ok ? readAnswer(sent.value) : sent;
  };
  const callAny: Call = (name, ...[request]) => call(name, request) as never;
  return {
    ...createParts(callAny, ports.wait),
    chat: (body, { key = ports.newKey(), ...follow } = {}) =>
      new RunStream(ports, { body, key }, follow),
    follow: (followed, follow = {}) => new RunStream(ports, followed, follow),
    invoke: (toolId, body, given = {}) =>
      call("POST /v1/tools/{id}/invoke", { path: { id: toolId }, body, ...given }) as never,
    call: callAny,
  };
}

function toPorts({ baseUrl, token, fetch: own, wait: pause = wait }: ClientOptions): CallPorts {
  const address = new URL(baseUrl);
  if (!address.pathname.endsWith("/")) address.pathname += "/";
  return {
    baseUrl: address.href,
    token: async () => (typeof token === "function" ? token() : token),
    fetch: own ?? ((input, init) => fetch(input, init)),
    wait: pause,
    random: Math.random,
    newKey: () => crypto.randomUUID(),
  };
}
