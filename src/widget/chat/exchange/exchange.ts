import { type AnswerState, EMPTY_ANSWER } from "../answer/answer.ts";
import type { Feedback } from "../../../protocol/conversation/feedback.ts";
import type { KeyedRequest } from "../stream/api.ts";

import type { AttachedFile } from "../files/attached-file.ts";

/** The connection of an exchange. `broken` has its reason in `problem`. */
export type Link = "opening" | "open" | "reconnecting" | "token_needed" | "broken" | "done";

/**
 * One question with its answer: a turn of the conversation. Immutable: each change creates a new
 * object.
 */
export interface Exchange {
  readonly key: number;
  readonly question: string;
  /** The files of the question, while the page has them. */
  readonly files?: readonly AttachedFile[] | undefined;
  readonly answer: AnswerState;
  readonly link: Link;
  /** The exchange that this one continues; undefined at a root, and where it is not loaded. */
  readonly after?: number | undefined;
  /** The run before, where its exchange is not loaded. */
  readonly parentId?: string | undefined;
  readonly runId?: string;
  readonly lastEventId?: string;
  /** The key of the question: set at the first send, kept for each retry of the same question. */
  readonly request?: KeyedRequest;
  /** The server no longer had the earlier run, so this answer started without its messages. */
  readonly hasLostHistory?: boolean;
  /** The server no longer stores this run. */
  readonly isGone?: boolean;
  readonly problem?: string;
  /** The page cannot ask this question again: it has files, or more than one text. */
  readonly isFixed?: boolean;
  /** What the reader thinks of the answer. */
  readonly feedback?: Feedback | undefined;
}

/** Creates an exchange that has no run yet. */
export function createExchange(key: number, question: string): Exchange {
  return { key, question, answer: EMPTY_ANSWER, link: "opening" };
}

/** Tells whether an exchange still expects events from the server. */
export function isActive({ link }: Exchange): boolean {
  return link === "opening" || link === "open" || link === "reconnecting";
}
