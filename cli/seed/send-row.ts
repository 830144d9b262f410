import { isJsonArray, isJsonObject, type JsonValue } from "../../src/protocol/json/value.ts";
import { isFailureClass, type FailureClass } from "../../src/protocol/outcome/taxonomy.ts";
import { toVisible } from "../../src/protocol/text/visible.ts";
import type { Answer, Send } from "../push/deployment-client.ts";
import { hashText, type Row } from "./read-rows.ts";

/** What became of a row. Each `why` is for people. */
export type RowOutcome =
  | { readonly kind: "loaded" }
  /** Nothing happened, so that the row may be sent as another call. */
  | { readonly kind: "refused"; readonly why: string }
  /** The call failed, waits for people, or nobody knows; the same call is asked for again. */
  | { readonly kind: "open"; readonly why: string };

/** Where rows go: the tool, and the workspace of its call. */
export interface SeedTarget {
  readonly send: Send;
  readonly toolId: string;
  readonly workspaceId: string | undefined;
  /** Waits before the same request is sent again. */
  readonly pause: () => Promise<void>;
}

/** How often one request is sent while the deployment does not answer, or asks to come later. */
const MAX_TRIES = 40;
/** The call ended before it was dispatched, or its transaction was rolled back. */
const WITHOUT_EFFECT: ReadonlySet<FailureClass> = new Set([
  "SYNTACTIC_PARSE_FAIL",
  "STRUCTURAL_VIOLATION",
  "TYPE_MISMATCH",
  "OUT_OF_BOUNDS",
  "SEMANTIC_INVALIDITY",
  "PERMISSION_DENIED",
  "POLICY_VIOLATION",
  "CONFIRMATION_MISSING",
  "STALE_STATE",
  "BUDGET_EXHAUSTED",
  "RATE_LIMITED",
] satisfies FailureClass[]);
const COME_BACK = new Set(["request_in_progress", "rate_limited"]);

/**
 * Sends a row as a direct call. Contract: the same row of the same file, refused as often, has the
 * same key, so the deployment makes one call of it however often it is sent. Never throws.
 */
export async function sendRow(
  { args, name }: Row,
  refusals: number,
  { send, toolId, workspaceId, pause }: SeedTarget,
): Promise<RowOutcome> {
  const key = `seed-${hashText(JSON.stringify([toolId, workspaceId ?? null, name, refusals]))}`;
  const request = {
    method: "POST",
    path: `/v1/tools/${encodeURIComponent(toolId)}/invoke`,
    body: { arguments: args, ...(workspaceId !== undefined && { workspaceId }) },
    headers: { "idempotency-key": key },
  } as const;
  let answer = await send(request);
  for (let tries = 1; tries < MAX_TRIES && isWorthAnother(answer); tries++) {
    await pause();
    answer = await send(request);
  }
  return readOutcome(answer);
}

function isWorthAnother(answer: Answer): boolean {
  if (answer.kind === "no_answer") return true;
  return answer.kind === "refused" && COME_BACK.has(answer.refusal.code);
}

function readOutcome(answer: Answer): RowOutcome {
  if (answer.kind === "no_answer") return { kind: "open", why: answer.reason };
  if (answer.kind === "refused") {
    // A request that was refused as a whole made no run, and its key is free.
    const { status, code, message } = answer.refusal;
    return { kind: "open", why: `${status} ${code}: ${message}` };
  }
  const { observation, runId } = answer.body;
  const run = show(runId);
  if (!isJsonObject(observation)) {
    return { kind: "open", why: `${run} waits for people. Run the command again afterwards` };
  }
  const status = isJsonObject(observation["status"]) ? observation["status"] : {};
  if (status["is_error"] === false) return { kind: "loaded" };
  const failed = show(status["taxonomy_class"]);
  const isRefused = isFailureClass(failed) && WITHOUT_EFFECT.has(failed);
  const why = `${failed}: ${describeErrors(observation["result_payload"])} (${run})`;
  return { kind: isRefused ? "refused" : "open", why };
}

function describeErrors(payload: JsonValue | undefined): string {
  const errors = isJsonObject(payload) ? payload["errors"] : undefined;
  const list = [errors].filter(isJsonArray).flat().filter(isJsonObject);
  return list
    .map(({ field, code, message }) => [field, code, message].map(show).filter(Boolean).join(" "))
    .join("; ");
}

/** Threat: control characters of an answer that a terminal obeys. */
function show(value: JsonValue | undefined): string {
  return typeof value === "string" ? toVisible(value).text : "";
}
