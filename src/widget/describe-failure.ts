import type { Failure } from "../client/failure.ts";
import { say, sayWords } from "./texts/say.ts";

/** Text for the reader when a request got no response. */
const UNREACHABLE = "The server could not be reached. Check your connection and try again.";
const UNREADABLE = "The server sent an answer that this page cannot read. Try again later.";

const MAX_PROBLEM_CHARS = 500;

/**
 * Says why a request failed: in the server's words, or in those of the page. The table has the
 * sentences of the server that readers meet most.
 */
export function describeFailure({ code, message, problem, status }: Failure): string {
  if (problem) return sayWords(message.slice(0, MAX_PROBLEM_CHARS));
  if (code === "unreachable") return say(UNREACHABLE);
  if (status === undefined) return say(UNREADABLE);
  return say("The server answered with status {status}. Try again later.", { status });
}
