import * as v from "valibot";
import { rowId } from "./fields.ts";

const FARTHEST = 1_000_000;
const coordinate = v.pipe(v.number(), v.integer(), v.minValue(-FARTHEST), v.maxValue(FARTHEST));

/** Where people put a system on the board: its left upper corner, in units of the picture. */
export const place = v.strictObject({ x: coordinate, y: coordinate });

/** Null: the page chooses the place. */
export const placedSystem = v.strictObject({ systemId: rowId, place: v.nullable(place) });

export type PlacedSystem = v.InferOutput<typeof placedSystem>;
