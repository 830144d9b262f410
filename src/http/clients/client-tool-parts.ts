import type { Result } from "../../protocol/outcome/result.ts";
import type { ShownTool } from "../../protocol/tool/spec.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";

/** What a client says that one of its tools returned. Nothing of it is checked. */
export interface PostedResult {
  readonly callId: unknown;
  readonly output: unknown;
}

/** A body of `POST /v1/chat` that continues a run with the results of its client. */
export interface ContinuedRun {
  readonly messages: readonly object[];
  readonly parentId: string;
  readonly messageId: string;
}

/** The parts of `ClientTools`. */
export interface ClientToolParts {
  /** Reads the tools that a client declares. Fails: the response to send. */
  readTools(
    authorised: Pick<AuthorisedRequest, "principal">,
    declared: readonly unknown[],
  ): Result<readonly ShownTool[], Response>;
  /**
   * Continues the run that returned calls with their results: all of them, each once. What the
   * client says that it was asked for is not read. Fails: the response to send.
   */
  continueRun(
    authorised: AuthorisedRequest,
    results: readonly PostedResult[],
  ): Promise<Result<ContinuedRun, Response>>;
}
