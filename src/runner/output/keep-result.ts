import type { ResultShelf } from "../../capabilities/results.ts";
import type { ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { KeptResult } from "../../protocol/outcome/kept-result.ts";
import type { InvocationLedger } from "../invocation/invocation-ledger.ts";

/** What keeping takes of the run. */
export interface KeepPorts {
  /** Absent: nothing keeps results. */
  readonly results?: Pick<ResultShelf, "keep"> | undefined;
  readonly invocations: Pick<InvocationLedger, "find">;
}

/** Keeps what a call returned and nobody is shown whole, before the call ends. */
export async function keepResult(
  { results, invocations }: KeepPorts,
  context: ToolInvocationContext,
  result: KeptResult | undefined,
): Promise<void> {
  const { number } = invocations.find(context) ?? {};
  if (result && number !== undefined) await results?.keep(number, result);
}
