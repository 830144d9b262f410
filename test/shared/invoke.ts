import type { ObservationObject } from "../../src/protocol/outcome/observation.ts";
import type { RunState } from "../../src/protocol/run/state.ts";
import { send, type Caller } from "./worker.ts";

/** What a direct call is asked with. `token` replaces the token of `caller`. */
export interface AskedCall {
  readonly caller?: Caller;
  readonly key?: string;
  readonly token?: string;
  readonly origin?: string;
  readonly more?: object;
}

/** Calls a tool directly. */
export function invoke(
  toolId: string,
  args: unknown,
  { caller = "lab", key, token, origin, more = {} }: AskedCall = {},
): Promise<Response> {
  return send(`/v1/tools/${toolId}/invoke`, {
    ...(token === undefined && { caller }),
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key !== undefined && { "idempotency-key": key }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(origin !== undefined && { origin }),
    },
    body: JSON.stringify({ arguments: args, ...more }),
  });
}

/** The body of an answer to a direct call: of 200, of 202 or of a refusal. */
export type Invoked = Partial<Omit<RunState, "status">> & {
  /** Of HTTP. */
  readonly status: number;
  readonly runId: string;
  /** Present once the call was undone. */
  readonly state?: "COMPENSATED";
  readonly observation?: ObservationObject;
  readonly code?: string;
};

/** Reads the status and the body of an answer. */
export async function read(response: Response): Promise<Invoked> {
  return { ...(await response.json<Invoked>()), status: response.status };
}
