import type { Problem, ProblemCode } from "../../.interlock/api.ts";

/** Why a request was not answered. `message` says what is wrong and what to do. */
export interface Failure {
  /**
   * The code of the refusal. `unreachable`: no answer arrived, so what was asked for may have
   * happened. `unreadable`: something else than Interlock answered.
   */
  readonly code: ProblemCode | "unreachable" | "unreadable";
  readonly message: string;
  /** The same request may succeed a little later. */
  readonly isTransient: boolean;
  readonly status?: number;
  /** When to try again, as the server says. */
  readonly retryAfterSeconds?: number | undefined;
  /** The run that the request is about: an earlier request under the same key started it. */
  readonly runId?: string;
  /** The whole refusal. */
  readonly problem?: Problem;
}

/** No answer arrived. */
export const UNREACHABLE: Failure = {
  code: "unreachable",
  message: "The server could not be reached. Check the connection and try again.",
  isTransient: true,
};

/** Reads the refusal of a response that is not ok. Contract: never throws. */
export async function readFailure(response: Response): Promise<Failure> {
  const { status, headers } = response;
  const problem = (await response.json().catch(() => undefined)) as Partial<Problem> | undefined;
  const { code, title, detail } = problem ?? {};
  const said = [detail, title].find((text) => typeof text === "string" && text !== "");
  const message = said ?? `The server answered with status ${status}, and not as Interlock does.`;
  const retryAfterSeconds = Number(headers.get("retry-after") ?? Number.NaN);
  const runId = headers.get("x-run-id");
  const about = {
    status,
    isTransient: status >= 500 || status === 429 || code === "request_in_progress",
    ...(retryAfterSeconds >= 0 && { retryAfterSeconds }),
    ...(runId !== null && { runId }),
  };
  if (typeof code !== "string") return { ...about, code: "unreadable", message };
  return { ...about, code: code as ProblemCode, message, problem: problem as Problem };
}
