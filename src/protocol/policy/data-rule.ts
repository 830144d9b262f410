import * as v from "valibot";
import { assistantId } from "../assistant/id.ts";
import { recordOf } from "../json/record.ts";
import { DATA_CLASSIFICATIONS } from "../tool/data-class.ts";
import { listOf, name, wellFormedText } from "./fields.ts";

const label = v.pipe(wellFormedText(261), v.minLength(1));

/**
 * Where the data of one class may go. An absent field limits nothing, an empty one allows nothing.
 */
const dataRule = v.strictObject({
  /** Each model that may answer in a run is one of them. */
  models: v.optional(listOf(label)),
  assistants: v.optional(listOf(assistantId)),
  /** The caller has one of them. */
  roles: v.optional(listOf(name)),
  /** Upstreams and hosts that tools of the class reach, and any tool once a model has the data. */
  upstreams: v.optional(listOf(label)),
  /** Every such model, upstream and host lies in one of them. */
  regions: v.optional(listOf(name)),
});

/** Accepts what lies in each region. What lies in none is in no region. */
export const regionRules = recordOf(
  name,
  v.strictObject({
    models: v.optional(listOf(label), []),
    upstreams: v.optional(listOf(label), []),
  }),
);

/** Accepts the limits of each class of data. */
export const dataRules = v.strictObject(
  v.entriesFromList(DATA_CLASSIFICATIONS, v.optional(dataRule)),
);
