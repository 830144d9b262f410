import type { Egress, HttpClient } from "../../capabilities/http.ts";
import type { AttemptScope } from "../../capabilities/tool.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { AnyToolContract } from "../define/definition.ts";

/** A service's answer may be this many times larger than the result that the tool keeps of it. */
const ANSWER_FACTOR = 8;

/** Purpose of an author's function: `act` may change something, `ask` must change nothing. */
export type Purpose = "act" | "ask";

/** Binds the HTTP client to the destinations and rights of one contract, for one invocation. */
export function bindHttp(
  contract: AnyToolContract,
  egress: Egress,
  {
    purpose,
    signal,
    idempotencyKey,
    context,
  }: AttemptScope & {
    readonly purpose: Purpose;
    readonly context: Pick<ToolInvocationContext, "part">;
  },
): HttpClient {
  return egress.bind({
    hosts: contract.security.egressHosts,
    upstreams: contract.security.upstreams,
    keyHeader: contract.idempotency.keyHeader ?? "Idempotency-Key",
    ...(contract.effect !== "read_only" && { key: idempotencyKey }),
    mayAct: purpose === "act",
    mayAuthorise: contract.requiresConnection,
    maxAnswerBytes: contract.runtime.maxResultBytes * ANSWER_FACTOR,
    signal,
    part: context.part,
  });
}
