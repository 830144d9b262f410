import type { ApprovalView } from "../../protocol/approval/view.ts";
import type { BusyRun } from "../../protocol/conversation/erasure.ts";
import { PROBLEMS, type ProblemCode } from "./problem-codes.ts";

/** What a problem says beyond its code. */
export interface ProblemDetail {
  /** Says what is wrong and what to do; holds no secret and no data of another tenant. */
  readonly detail?: string;
  /** What is wrong in the body, by JSON pointer. */
  readonly errors?: readonly { readonly pointer: string; readonly message: string }[];
  /** The current revision of the policy or of the assistant. */
  readonly revision?: number;
  /** The turn that is the head of the conversation by now. */
  readonly headId?: string;
  /** The runs that keep a conversation from being deleted. */
  readonly runs?: readonly BusyRun[];
  /** The closed approval that the caller wanted to decide. */
  readonly approval?: ApprovalView;
  /** Names the line in the deployment's log. */
  readonly errorId?: string;
  /** Why the caller may not decide, or why a run cannot be decided again. */
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Tells whether an answer is a refusal of ours. */
export function isProblem({ headers }: Response): boolean {
  return headers.get("content-type") === PROBLEM_TYPE;
}

const PROBLEM_TYPE = "application/problem+json";

/** Builds the answer to a refused request, as RFC 9457 problem details. */
export function problem(code: ProblemCode, extra: ProblemDetail = {}): Response {
  const { status, title } = PROBLEMS[code];
  const { headers, ...members } = extra;
  return Response.json(
    { type: "about:blank", title, status, code, ...members },
    { status, headers: { ...headers, "content-type": PROBLEM_TYPE } },
  );
}
