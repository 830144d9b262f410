import * as v from "valibot";
import { time } from "./fields.ts";

export const MUTATION_TYPES = ["create", "read", "update", "delete", "action"] as const;
export type MutationType = (typeof MUTATION_TYPES)[number];

/**
 * The output of every tool of GamePlan (seeds/003, ToolCallResult). A call that fails is a failure
 * of the contract; its error code is the code of a ServiceResult in lower case.
 */
export function toolCallResult<Taken, Args, Data>(
  input: v.GenericSchema<Taken, Args>,
  data: v.GenericSchema<Data>,
) {
  return v.strictObject({
    toolName: v.string(),
    /** A sentence in the past tense. */
    description: v.string(),
    apiCall: v.strictObject({
      service: v.string(),
      /** The arguments of the call. */
      payload: input,
      mutationType: v.picklist(MUTATION_TYPES),
    }),
    result: v.strictObject({ success: v.literal(true), data }),
    executedAt: time,
  });
}
