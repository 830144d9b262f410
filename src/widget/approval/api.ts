import { say } from "../texts/say.ts";
import { sayError } from "../texts/say-error.ts";
import { createCall, type AnswerOf, type Given, type OperationName } from "../../client/call.ts";
import type { Failure } from "../../client/failure.ts";
import { type ClientOptions, toPorts } from "../../client/ports.ts";
import { describeFailure } from "../describe-failure.ts";
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

/** Sends the request of any operation; a failure is for the reader. */
export type ReaderCall = <Name extends OperationName>(
  name: Name,
  ...given: Given<Name>
) => Answer<AnswerOf<Name>>;

/** Creates the typed client's call, whose failures are for the reader. */
export function createReaderCall(options: ClientOptions): ReaderCall {
  const call = createCall(toPorts(options));
  return async (name, ...given) => {
    const answer = await call(name, ...given);
    return answer.ok ? answer : fail(toFailure(answer.failure));
  };
}

/** Creates what single approvals need. */
export function createApprovalsApi(call: ReaderCall): ApprovalsApi {
  return {
    read: async (id) => readAnswered(await call("GET /v1/approvals/{id}", { path: { id } })),
    decide: async (id, body) =>
      readAnswered(await call("POST /v1/approvals/{id}/decisions", { path: { id }, body })),
  };
}

const UNREADABLE = "The server sent an approval that this page cannot read. Reload the page.";

function readAnswered(
  answer: Result<unknown, ApprovalFailure>,
): Result<ApprovalInfo, ApprovalFailure> {
  if (!answer.ok) return answer;
  const approval = readApproval(answer.value);
  if (approval) return ok(approval);
  return fail({ code: "unreadable", message: say(UNREADABLE), needsToken: false, errors: [] });
}

const MAX_ERRORS = 20;

function toFailure(failure: Failure): ApprovalFailure {
  const problem: JsonObject = { ...failure.problem };
  const approval = readApproval(problem["approval"]);
  const { reason } = problem;
  return {
    code: typeof reason === "string" ? reason : failure.code,
    message: describeFailure(failure),
    needsToken: failure.status === 401,
    errors: listOf(problem["errors"]).flatMap(readFieldError).slice(0, MAX_ERRORS),
    ...(approval && { approval }),
  };
}

function readFieldError(error: JsonValue): ApprovalFailure["errors"] {
  const { pointer, message } = isJsonObject(error) ? error : {};
  if (typeof message !== "string") return [];
  return [{ pointer: typeof pointer === "string" ? pointer : "", message: sayError(message) }];
}

/** Reads a list; anything else is an empty one. */
function listOf(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}
