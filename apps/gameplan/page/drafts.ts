import { isJsonObject } from "../../../src/protocol/json/value.ts";
import { objectOf, textOf } from "./read-json.ts";

/** What the reader typed into one field. `base` is what the field said when they began. */
export interface Typed {
  readonly base: string;
  readonly text: string;
}

/** What the reader typed about one row and has not saved, by field. */
export type Draft = Readonly<Record<string, Typed>>;

const KEY = "interlock-gameplan:draft:";
/** Without session storage drafts last until a reload. */
const kept = new Map<string, string>();

/** Reads what the reader typed, also before a reload. Contract: never throws. */
export function loadDraft(id: string): Draft {
  try {
    const value: unknown = JSON.parse(readKept(id) ?? "{}");
    if (!isJsonObject(value)) return {};
    const typed = Object.keys(value).map((name) => {
      const field = objectOf(value, name);
      return [name, { base: textOf(field, "base"), text: textOf(field, "text") }] as const;
    });
    return Object.fromEntries(typed);
  } catch {
    return {};
  }
}

/** Keeps what the reader typed. An empty draft is forgotten. */
export function saveDraft(id: string, draft: Draft): void {
  const isEmpty = Object.keys(draft).length === 0;
  const text = JSON.stringify(draft);
  if (isEmpty) kept.delete(id);
  else kept.set(id, text);
  try {
    if (isEmpty) sessionStorage.removeItem(KEY + id);
    else sessionStorage.setItem(KEY + id, text);
  } catch {
    // The map keeps it.
  }
}

function readKept(id: string): string | undefined {
  try {
    return sessionStorage.getItem(KEY + id) ?? kept.get(id);
  } catch {
    return kept.get(id);
  }
}
