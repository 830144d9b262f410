import { say } from "./texts/say.ts";
import type { JsonObject } from "../protocol/json/value.ts";

/** Returns the access token of the embedding page, or undefined when the page has none. */
export type TokenSource = () => string | undefined | Promise<string | undefined>;

/** Text for the reader when a request got no response. */
export const UNREACHABLE = "The server could not be reached. Check your connection and try again.";

/** Builds a POST request with a JSON body. */
export function postJson(body: unknown, headers: Readonly<Record<string, string>> = {}) {
  return {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  };
}

const MAX_PROBLEM_CHARS = 500;

/** Returns the reader's text of an `application/problem+json` body, or names the status. */
export function readProblemText({ detail, title }: JsonObject, status: number): string {
  const text = [detail, title].find((part) => typeof part === "string" && part !== "");
  const fallback = say("The server answered with status {status}. Try again later.", { status });
  return typeof text === "string" ? text.slice(0, MAX_PROBLEM_CHARS) : fallback;
}
