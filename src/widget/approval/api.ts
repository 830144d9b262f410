import { say } from "../texts/say.ts";
import { type ApiOptions, sendAuthorised } from "../../client/send-authorised.ts";
import { postJson, readProblemText, UNREACHABLE } from "../api-request.ts";
import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { ConsentReach } from "../../protocol/consent/lasting.ts";
import { type ApprovalInfo, readApproval } from "./info.ts";

/** A person's vote or answer. `arguments` replace the call's arguments. */
export interface ApprovalDecision {
  readonly decision: "approve" | "answer" | "reject";
  readonly answer?: JsonObject;
  readonly arguments?: JsonObject;
  readonly reason?: string;
  /** The consent lasts, as far as the approval offers it. */
  readonly lasting?: { readonly within: ConsentReach };
}

/** Why a request failed. `message` is for the reader. */
export interface ApprovalFailure {
  readonly code: string;
  readonly message: string;
  /** True when the server rejected the token. */
  readonly needsToken: boolean;
  /** The approval's current state, when another person decided first. */
  readonly approval?: ApprovalInfo;
  /** What is wrong with the edited arguments, or with the reason. */
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

/** What a request answered. */
export type Answer<T> = Promise<Result<T, ApprovalFailure>>;

/** The part of the public API that one approval needs. Contract: no method throws. */
export interface ApprovalsApi {
  read(approvalId: string): Answer<ApprovalInfo>;
  decide(approvalId: string, decision: ApprovalDecision): Answer<ApprovalInfo>;
}

/** Creates the client of the HTTP API for single approvals. */
export function createApprovalsApi(options: ApiOptions): ApprovalsApi {
  const urlOf = (approvalId: string): string => `v1/approvals/${encodeURIComponent(approvalId)}`;
  return {
    read: async (approvalId) => readAnswered(await request(options, urlOf(approvalId))),
    decide: async (approvalId, decision) =>
      readAnswered(await request(options, `${urlOf(approvalId)}/decisions`, postJson(decision))),
  };
}

const UNREADABLE = "The server sent an approval that this page cannot read. Reload the page.";

/** Reads the approval of an answer. */
export function readAnswered(
  answer: Result<unknown, ApprovalFailure>,
): Result<ApprovalInfo, ApprovalFailure> {
  if (!answer.ok) return answer;
  const approval = readApproval(answer.value);
  return approval ? ok(approval) : fail(createFailure("unreadable", say(UNREADABLE)));
}

/** Sends a request and reads its JSON object. Contract: never throws. */
export async function request(
  options: ApiOptions,
  path: string,
  init: RequestInit = {},
): Answer<JsonObject> {
  try {
    const response = await sendAuthorised(options, path, init);
    const body: unknown = await response.json().catch(() => undefined);
    const value = isJsonObject(body) ? body : {};
    return response.ok ? ok(value) : fail(readFailure(value, response.status));
  } catch {
    return fail(createFailure("unreachable", say(UNREACHABLE)));
  }
}

function createFailure(code: string, message: string): ApprovalFailure {
  return { code, message, needsToken: false, errors: [] };
}

const MAX_ERRORS = 20;

/** Reads a refusal. */
export function readFailure(problem: JsonObject, status: number): ApprovalFailure {
  const approval = readApproval(problem["approval"]);
  const code = typeof problem["reason"] === "string" ? problem["reason"] : problem["code"];
  return {
    code: typeof code === "string" ? code : String(status),
    message: readProblemText(problem, status),
    needsToken: status === 401,
    errors: listOf(problem["errors"]).flatMap(readFieldError).slice(0, MAX_ERRORS),
    ...(approval && { approval }),
  };
}

function readFieldError(error: JsonValue): ApprovalFailure["errors"] {
  const { pointer, message } = isJsonObject(error) ? error : {};
  if (typeof message !== "string") return [];
  return [{ pointer: typeof pointer === "string" ? pointer : "", message }];
}

/** Reads a list; anything else is an empty one. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
