import * as v from "valibot";
import { assistantId, DEFAULT_ASSISTANT_ID } from "../assistant/id.ts";
import { runLimits, type RunLimits } from "../policy/limits.ts";
import { connectionId } from "../connection/stored.ts";
import { workspaceId } from "../workspace/address.ts";
import type { ActorId, ConnectionId } from "./ids.ts";
import { scopeOrRole } from "./api-token.ts";
import { webOrigin } from "./web-origin.ts";

/** Longest signed token that is examined, so that a huge header costs no work. */
export const MAX_JWT_CHARS = 8_192;
const MAX_TOOLS = 64;

/** Few enough to fit into a header. */
const toolIds = v.pipe(
  v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(64))),
  v.minLength(1),
  v.maxLength(MAX_TOOLS),
);

/** The limits of an embed token, besides its tenant and its actor. */
export interface EmbedGrant {
  /** The id of the token, unique among all tokens. */
  readonly id: string;
  /**
   * The actor who minted it. The minter can use the token too, so the minter counts as a requester.
   */
  readonly minterId: ActorId;
  /** The only origin that may send it. */
  readonly origin: string;
  /** The only tools that its runs may use. */
  readonly toolIds: readonly string[];
  readonly budgets?: RunLimits | undefined;
  /** The only assistant of its runs. Absent: the default. */
  readonly assistantId?: string | undefined;
  /** The only connections that its runs may use. Absent: the request names them. */
  readonly connectionIds?: readonly ConnectionId[] | undefined;
  /** The only model of its runs. Absent: the request may name one. */
  readonly model?: string | undefined;
  /** The only workspace of its runs. Absent: the one of which the person is a member. */
  readonly workspaceId?: string | undefined;
}

/** Reads the assistant that an embed token is bound to; undefined for a caller without one. */
export function boundAssistant(embed: EmbedGrant | undefined): string | undefined {
  return embed && (embed.assistantId ?? DEFAULT_ASSISTANT_ID);
}

/** The schema fields of a grant, in a token and in a request. */
export const embedFields = {
  origin: webOrigin,
  toolIds,
  budgets: v.optional(runLimits),
  assistantId: v.optional(assistantId),
  connectionIds: v.optional(v.pipe(v.array(connectionId), v.maxLength(16))),
  model: v.optional(v.pipe(v.string(), v.nonEmpty(), v.maxLength(256))),
  workspaceId: v.optional(workspaceId),
} as const;

/** The roles of an embed token: of its person, as far as the minter may give them. */
export const embedRoles = v.optional(v.pipe(v.array(scopeOrRole), v.maxLength(16)), []);

/** Scopes that an embed token may have; none of them administers a tenant. */
export const EMBED_SCOPES = [
  "chat",
  "runs:read",
  "approvals:read",
  "approvals:decide",
  "tools:read",
] as const;
