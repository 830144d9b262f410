import { isJsonObject } from "../../protocol/json/value.ts";
import type { KeyedRequest } from "./api.ts";

/** What is kept of a turn: the answer itself is read again from the run's events. */
export interface SavedTurn {
  readonly question: string;
  readonly runId?: string;
  /** What it was asked under; the same again asks nothing twice. */
  readonly request?: KeyedRequest;
}

/** Keeps a conversation and its token for as long as the tab lives. Contract: never throws. */
export interface SessionStore {
  loadTurns(): readonly SavedTurn[];
  saveTurns(turns: readonly SavedTurn[]): void;
  loadToken(): string | undefined;
  saveToken(token: string): void;
}

/** Keeps it in the tab's session storage; where that is blocked or full, in memory alone. */
export function openSessionStore(name: string): SessionStore {
  const memory = new Map<string, string>();
  const read = (key: string) => {
    try {
      return sessionStorage.getItem(key) ?? memory.get(key);
    } catch {
      return memory.get(key);
    }
  };
  const write = (key: string, value: string) => {
    memory.set(key, value);
    try {
      sessionStorage.setItem(key, value);
    } catch {
      // A blocked or full storage costs only what a reload would bring back.
    }
  };
  return {
    loadTurns: () => parseTurns(read(`${name}:turns`)),
    saveTurns: (turns) => write(`${name}:turns`, JSON.stringify(turns)),
    loadToken: () => read(`${name}:token`) || undefined,
    saveToken: (token) => write(`${name}:token`, token),
  };
}

/** Storage is shared with the rest of the page, so what it holds is checked. */
function parseTurns(text: string | undefined): readonly SavedTurn[] {
  try {
    const value: unknown = JSON.parse(text ?? "[]");
    if (!Array.isArray(value)) return [];
    return value.flatMap((turn: unknown) => {
      if (!isJsonObject(turn) || typeof turn["question"] !== "string") return [];
      const { question, runId } = turn;
      const request = readRequest(turn["request"]);
      return [
        { question, ...(typeof runId === "string" && { runId }), ...(request && { request }) },
      ];
    });
  } catch {
    return [];
  }
}

/** A key goes into a header. */
const KEY = /^[\w-]{16,64}$/;

function readRequest(value: unknown): KeyedRequest | undefined {
  const { key, previousRunId } = isJsonObject(value) ? value : {};
  if (typeof key !== "string" || !KEY.test(key)) return undefined;
  return { key, ...(typeof previousRunId === "string" && { previousRunId }) };
}
