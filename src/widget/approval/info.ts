import { APPROVAL_STATUSES } from "../../protocol/approval/record.ts";
import type { Question } from "../../protocol/approval/question.ts";
import type { LastingOffer } from "../../protocol/consent/lasting.ts";
import type { ApprovalSummary, ApprovalView } from "../../protocol/approval/view.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import type { PacketLine } from "../../protocol/approval/packet-lines.ts";

/** An approval as the page knows it. A list sends less of it than `GET /v1/approvals/:id`. */
export interface ApprovalInfo extends ApprovalSummary {
  readonly lines: readonly PacketLine[];
  readonly votes: ApprovalView["votes"];
  /** The arguments that can be edited; undefined until the page has them. */
  readonly editable?: JsonObject;
  /** What the person is asked; undefined for a vote alone, and until the page has it. */
  readonly question?: Question;
  /** Whether the reader may decide; undefined until the page knows. */
  readonly mayDecide?: boolean;
  /** What the reader may consent to beyond this call; undefined for nothing. */
  readonly lasting?: LastingOffer;
  /** The code of why the reader may not decide. */
  readonly mayNot?: string;
  /** The reader's own vote. */
  readonly said?: string;
}

const TEXTS = [
  "approvalId",
  "toolId",
  "toolVersion",
  "title",
  "riskClass",
  "requestedBy",
  "requestedAt",
  "expiresAt",
] as const;

/** Reads an approval; undefined for any other value. Contract: never throws. */
export function readApproval(value: unknown): ApprovalInfo | undefined {
  if (!isJsonObject(value)) return undefined;
  const isWhole =
    TEXTS.every((name) => typeof value[name] === "string") &&
    APPROVAL_STATUSES.some((status) => status === value["status"]) &&
    typeof value["required"] === "number" &&
    typeof value["approvals"] === "number" &&
    Array.isArray(value["requirements"]) &&
    value["requirements"].every(isRule);
  if (!isWhole) return undefined;
  const summary = value as unknown as ApprovalSummary;
  const { mayDecide, mayNot, said } = value;
  const editable = readEditable(value["packet"]);
  const question = readQuestion(value["packet"]);
  const lasting = readOffer(value["lasting"]);
  return {
    ...summary,
    lines: listOf(value["lines"], isLine) as unknown as readonly PacketLine[],
    votes: listOf(value["votes"], isVote) as unknown as ApprovalView["votes"],
    ...(editable && { editable }),
    ...(question && { question }),
    ...(lasting && { lasting }),
    ...(typeof mayDecide === "boolean" && { mayDecide }),
    ...(typeof mayNot === "string" && { mayNot }),
    ...(typeof said === "string" && { said }),
  };
}

function isRule(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { pattern, required, approvals, roles, withinLimit = [] } = value;
  const isCounted = typeof required === "number" && typeof approvals === "number";
  return typeof pattern === "string" && isCounted && isTexts(roles) && isTexts(withinLimit);
}

function isTexts(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function listOf(
  value: JsonValue | undefined,
  is: (item: JsonObject) => boolean,
): readonly JsonObject[] {
  return Array.isArray(value) ? value.filter((item) => isJsonObject(item) && is(item)) : [];
}

function isLine({ field, label, text, was = null }: JsonObject): boolean {
  const isBefore = was === null || typeof was === "string";
  return isBefore && [field, label, text].every((part) => typeof part === "string");
}

function isVote({ approverId, decision, at }: JsonObject): boolean {
  return [approverId, decision, at].every((part) => typeof part === "string");
}

function readQuestion(packet: JsonValue | undefined): Question | undefined {
  const { text, schema } = (isJsonObject(packet) && asObject(packet["question"])) || {};
  return typeof text === "string" && isJsonObject(schema) ? { text, schema } : undefined;
}

function readOffer(value: JsonValue | undefined): LastingOffer | undefined {
  const { within, maxCalls, maxSeconds, sameFields = [] } = asObject(value) ?? {};
  const isReach = within === "conversation" || within === "assistant";
  const isBounded = typeof maxCalls === "number" && typeof maxSeconds === "number";
  return isReach && isBounded && isTexts(sameFields) ? (value as LastingOffer) : undefined;
}

function asObject(value: JsonValue | undefined): JsonObject | undefined {
  return isJsonObject(value) ? value : undefined;
}

/** Only shown arguments can be edited. Withheld arguments keep their values. */
function readEditable(packet: JsonValue | undefined): JsonObject | undefined {
  const args = isJsonObject(packet) ? packet["arguments"] : undefined;
  return isJsonObject(args) && isJsonObject(args["shown"]) ? args["shown"] : undefined;
}

/**
 * Joins news of an approval with what the page knows. Contract: a decided approval stays decided.
 */
export function joinNews(known: ApprovalInfo, news: ApprovalInfo): ApprovalInfo {
  if (known.approvalId !== news.approvalId) return news;
  if (known.status !== "pending" && news.status === "pending") return known;
  return {
    ...known,
    ...news,
    lines: news.lines.length > 0 ? news.lines : known.lines,
    votes: news.votes.length >= known.votes.length ? news.votes : known.votes,
  };
}
