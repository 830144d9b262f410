import * as v from "valibot";
import { runLimits, type RunLimits } from "../policy/limits.ts";
import { webOrigin } from "./web-origin.ts";

const MAX_TOOLS = 64;

/** Enough for a page, and few enough for a header. */
const toolIds = v.pipe(
  v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
  v.minLength(1),
  v.maxLength(MAX_TOOLS),
);

/** What a page's token is bound to, beside its tenant and its actor. */
export interface EmbedGrant {
  /** Names the token; it is in no other. */
  readonly id: string;
  /** The only origin that may send it. */
  readonly origin: string;
  /** The only tools that its runs may use. */
  readonly toolIds: readonly string[];
  readonly budgets?: RunLimits | undefined;
}

/** The fields of a grant as a token and a request hold them. */
export const embedFields = {
  origin: webOrigin,
  toolIds,
  budgets: v.optional(runLimits),
} as const;

/** Scopes that a page may hold. What administers a tenant is never among them. */
export const EMBED_SCOPES = [
  "chat",
  "runs:read",
  "approvals:read",
  "approvals:decide",
  "tools:read",
] as const;
