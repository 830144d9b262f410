import { isJsonObject, type JsonObject, type JsonValue } from "../../protocol/json/value.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import { type ApprovalInfo, readApproval } from "./info.ts";
import { type ChatApiOptions, sendAuthorised } from "../chat/api.ts";

/** A person's word on a question; `arguments` ask for other ones. */
export interface Decision {
  readonly decision: "approve" | "reject";
  readonly arguments?: JsonObject;
  readonly reason?: string;
}

/** Why a request brought nothing. `message` is for the reader. */
export interface ApprovalFailure {
  readonly code: string;
  readonly message: string;
  /** True when the token was not accepted. */
  readonly needsToken: boolean;
  /** How the question stands, where somebody else was faster. */
  readonly approval?: ApprovalInfo;
  /** What is wrong with edited arguments, or with the reason. */
  readonly errors: readonly { readonly pointer: string; readonly message: string }[];
}

/** One page of the queue. */
export interface ApprovalPage {
  readonly approvals: readonly ApprovalInfo[];
  readonly next?: string;
}

/** What became of one of several questions that were decided at once. */
export interface BulkResult {
  readonly approvalId: string;
  readonly status: string;
  readonly code?: string;
}

type Answer<T> = Promise<Result<T, ApprovalFailure>>;

/** The part of the public API that deciding needs. Contract: no method throws. */
export interface ApprovalsApi {
  read(approvalId: string): Answer<ApprovalInfo>;
  decide(approvalId: string, decision: Decision): Answer<ApprovalInfo>;
  list(query: Readonly<Record<string, string>>): Answer<ApprovalPage>;
  decideMany(
    decisions: readonly (Decision & { readonly approvalId: string })[],
  ): Answer<readonly BulkResult[]>;
}

/** Speaks to the API over HTTP. */
export function createApprovalsApi(options: ChatApiOptions): ApprovalsApi {
  const urlOf = (approvalId: string): string => `v1/approvals/${encodeURIComponent(approvalId)}`;
  const post = (path: string, body: unknown): Answer<JsonObject> =>
    ask(options, path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  return {
    read: async (approvalId) => readOne(await ask(options, urlOf(approvalId), {})),
    decide: async (approvalId, decision) =>
      readOne(await post(`${urlOf(approvalId)}/decisions`, decision)),
    async list(query) {
      const answer = await ask(
        options,
        `v1/approvals?${new URLSearchParams(query).toString()}`,
        {},
      );
      if (!answer.ok) return answer;
      const { approvals, next } = answer.value;
      const page = (Array.isArray(approvals) ? approvals : []).flatMap(
        (item: JsonValue) => readApproval(item) ?? [],
      );
      return ok({ approvals: page, ...(typeof next === "string" && next !== "" && { next }) });
    },
    async decideMany(decisions) {
      const answer = await post("v1/approvals/decisions", { decisions });
      if (!answer.ok) return answer;
      const { results } = answer.value;
      return ok(Array.isArray(results) ? (results as unknown as readonly BulkResult[]) : []);
    },
  };
}

function readOne(
  answer: Result<JsonObject, ApprovalFailure>,
): Result<ApprovalInfo, ApprovalFailure> {
  if (!answer.ok) return answer;
  const approval = readApproval(answer.value);
  return approval ? ok(approval) : fail(failure("unreadable", "The answer cannot be read."));
}

async function ask(options: ChatApiOptions, path: string, init: RequestInit): Answer<JsonObject> {
  try {
    const response = await sendAuthorised(options, path, init);
    const body: unknown = await response.json().catch(() => undefined);
    const value = isJsonObject(body) ? body : {};
    return response.ok ? ok(value) : fail(readProblem(value, response.status));
  } catch {
    return fail(failure("unreachable", "The server could not be reached."));
  }
}

function failure(code: string, message: string): ApprovalFailure {
  return { code, message, needsToken: false, errors: [] };
}

const MAX_ERRORS = 20;

function readProblem(problem: JsonObject, status: number): ApprovalFailure {
  const { code, detail, title, reason, errors } = problem;
  const words = [detail, title, `The server answered with status ${status}.`]
    .filter((text) => typeof text === "string")
    .find((text) => text !== "");
  const approval = readApproval(problem["approval"]);
  const fields = (Array.isArray(errors) ? errors : []).flatMap((error: JsonValue) => {
    const { pointer, message } = isJsonObject(error) ? error : {};
    if (typeof message !== "string") return [];
    return [{ pointer: typeof pointer === "string" ? pointer : "", message }];
  });
  const why = typeof reason === "string" ? reason : code;
  return {
    code: typeof why === "string" ? why : String(status),
    message: (words ?? "").slice(0, 500),
    needsToken: status === 401,
    errors: fields.slice(0, MAX_ERRORS),
    ...(approval && { approval }),
  };
}
