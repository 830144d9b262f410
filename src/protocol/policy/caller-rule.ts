import * as v from "valibot";
import { assistantId } from "../assistant/id.ts";
import { actor, listOf, name } from "./fields.ts";
import { selectorFields } from "./selector.ts";

const oneOf = <T>(item: v.GenericSchema<unknown, T>): v.GenericSchema<unknown, T[]> =>
  v.pipe(listOf(item), v.minLength(1));

/** Who may call the selected tools. A caller has to meet each rule that is about a tool. */
export const callerRule = v.pipe(
  v.strictObject({
    ...selectorFields,
    /** The caller needs one of them. */
    roles: v.optional(oneOf(name)),
    /** The caller is one of them; an agent and the person for whom it acts both are. */
    actors: v.optional(oneOf(actor)),
    /** The run has one of them. */
    assistants: v.optional(oneOf(assistantId)),
  }),
  v.check(
    ({ roles, actors, assistants }) => (roles ?? actors ?? assistants) !== undefined,
    "roles, actors or assistants",
  ),
);

export type CallerRule = v.InferOutput<typeof callerRule>;
