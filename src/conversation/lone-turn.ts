import type { TurnPage } from "../protocol/conversation/turn.ts";
import type { ReadTurns, Turn } from "./stored-turns.ts";

/** The turns of a chat of one run, for readers: nothing is stored of them yet. */
export function loneTurn(first: Turn, page: TurnPage | undefined): ReadTurns {
  const end = page && {
    endedMs: page.endedMs,
    hash: "",
    bytes: 0,
    shortBytes: 0,
    labels: { sources: [], dataClasses: [] },
    title: page.shown.title ?? null,
    saidKeys: page.saidKeys ?? [],
  };
  const turn = { ...first, end: end ?? null };
  return {
    at: () => turn,
    newest: () => [turn],
    oldest: () => [turn],
    page() {
      if (!page) throw new Error("the turn has no page yet");
      return page;
    },
  };
}
