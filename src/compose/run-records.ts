import { createKvRunRecords } from "../adapters/kv-run-records.ts";
import type { RunRecords } from "../capabilities/run.ts";
import type { Env } from "../env.ts";

/** Where what has ended is published. */
export function composeRunRecords({ idempotencyKv, lifetimes }: Env): RunRecords {
  return createKvRunRecords(idempotencyKv, {
    runSeconds: Math.ceil(lifetimes.runMs / 1_000),
    keySeconds: Math.ceil(lifetimes.keyMs / 1_000),
  });
}
