import { problem, type ProblemDetail } from "../request/problem.ts";

/**
 * Gives a refusal the shape that clients of OpenAI read. The problem's own members stay beside it.
 * A repetition of what was refused is refused again, so the client is told not to.
 */
export async function toOpenAIRefusal(refusal: Response): Promise<Response> {
  const {
    title,
    detail = title,
    errors,
    code,
    status,
    type: _,
    ...more
  } = await readProblem(refusal);
  const first = errors?.[0];
  const error = {
    message: first ? `${detail} ${first.pointer} ${first.message}` : detail,
    type: status >= 500 ? "server_error" : "invalid_request_error",
    param: first?.pointer ?? null,
    code,
    ...more,
  };
  const headers = new Headers(refusal.headers);
  headers.set("content-type", "application/json");
  if (!headers.has("retry-after")) headers.set("x-should-retry", "false");
  return Response.json({ error }, { status, headers });
}

/** Reads a refusal of ours. */
function readProblem(refusal: Response): Promise<Problem> {
  return refusal.json();
}

type Problem = Pick<ProblemDetail, "detail" | "errors"> & {
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly type: string;
};

/** Answers that a member of the body asks for what Interlock does not do. */
export function refuseMember(member: string): Response {
  const errors = [{ pointer: `/${member}`, message: "has a value that is not supported" }];
  return problem("member_not_supported", { errors });
}
