import * as v from "valibot";

/** The assistant of requests that name none. The deployment has one, and a tenant may store one. */
export const DEFAULT_ASSISTANT_ID = "default";

/** Accepts the id of an assistant. It is part of addresses. */
export const assistantId = v.pipe(v.string(), v.regex(/^[a-zA-Z0-9_-]{1,64}$/));
