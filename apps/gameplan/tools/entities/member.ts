import * as v from "valibot";
import { person } from "./fields.ts";

/** Stands for every member of the workspace who is not named. */
export const EVERYBODY = "*";

/** What a person may do in a project. An owner also deletes it, and says who else is in it. */
const access = v.picklist(["owner", "member", "none"]);

/** One line of a project's members. `none` keeps out who would be in it as one of everybody. */
export const member = v.strictObject({ person, access });

export type Member = v.InferOutput<typeof member>;
