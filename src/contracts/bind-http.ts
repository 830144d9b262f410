import type { Egress, HttpClient } from "../capabilities/http.ts";
import type { InvocationScope } from "../capabilities/tool.ts";
import type { AnyToolContract } from "./definition.ts";

/** An answer holds more than its tool keeps of it, within reason. */
const ANSWER_FACTOR = 8;

/** What an author's function is there for: `ask` must change nothing. */
export type Purpose = "act" | "ask";

/** Binds the network to what one contract may send in one invocation. */
export function bindHttp(
  contract: AnyToolContract,
  egress: Egress,
  { purpose, signal, idempotencyKey }: InvocationScope & { readonly purpose: Purpose },
): HttpClient {
  return egress.bind({
    hosts: contract.security.egressHosts,
    keyHeader: contract.idempotency.keyHeader ?? "Idempotency-Key",
    ...(contract.effect !== "read_only" && { key: idempotencyKey }),
    mayAct: purpose === "act",
    mayAuthorise: contract.requiresConnection,
    maxAnswerBytes: contract.runtime.maxResultBytes * ANSWER_FACTOR,
    signal,
  });
}
