import * as v from "valibot";
import { connectionId } from "../connection/stored.ts";
import { isJsonObject, type JsonObject } from "../json/value.ts";

/** Accepts the body of `POST /v1/tools/:id/invoke`. It is closed: an unknown field is refused. */
export const invokeBody = v.strictObject({
  arguments: v.custom<JsonObject>(isJsonObject, "a JSON object"),
  connectionIds: v.optional(v.pipe(v.array(connectionId), v.maxLength(16))),
});

/** The one call of a run that asks no model: somebody called a tool directly. */
export interface DirectCall {
  readonly toolId: string;
  /** JSON of an object. It never leaves the run's storage. */
  readonly argumentsText: string;
}

/** Stands where the id of a model stands, in a run that asks no model. */
export const NO_MODEL = "none";
