declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Identifies one run and carries a MAC that is bound to its tenant; see RunIds. */
export type RunId = Branded<"RunId">;
export type TenantId = Branded<"TenantId">;
/** `user:…`, `agent:…` or `service:…` (seeds/000, ToolInvocationContext). */
export type ActorId = Branded<"ActorId">;
/** Namespaced tool id, `core__get_current_time` (seeds/000 #16). */
export type ToolId = Branded<"ToolId">;
/** Opaque name of stored credentials (seeds/000 #26). */
export type ConnectionId = Branded<"ConnectionId">;
/** Name of a tenant's own model provider. */
export type ProviderId = Branded<"ProviderId">;
/** Identifies a tool call from start to result (seeds/000 #5); unique within its run. */
export type ToolCallId = Branded<"ToolCallId">;
/** `appr_<nonce>_<mac>_<invocation>_<generation>`: identifies the approval of one payload. */
export type ApprovalId = Branded<"ApprovalId">;
/** `<recovery epoch>-<sequence>`; see event-id.ts. */
export type EventId = Branded<"EventId">;

/** Longest actor id: a kind, a colon, and a subject of OpenID Connect, which has 255 characters. */
export const MAX_ACTOR_CHARS = 263;

/** Longest tool call id that a client or a model may use (seeds/001, "Contract layer"). */
export const MAX_TOOL_CALL_ID_CHARS = 128;
/** Largest tool-call arguments, as JSON text in UTF-8 (seeds/001, "Contract layer"). */
export const MAX_TOOL_ARGUMENTS_BYTES = 8 * 1024;
/** Largest tool result, as JSON text in UTF-8 (seeds/001, "Contract layer"). */
export const MAX_TOOL_RESULT_BYTES = 32 * 1024;
/** The highest limit that a contract may set for its arguments and results. */
export const MAX_CONTRACT_BYTES = 256 * 1024;
