import { keptFilesOf, replaceSources } from "../protocol/conversation/kept-files.ts";
import { shortenTurn } from "../protocol/conversation/shorten-turn.ts";
import type { DeliveredPage } from "../protocol/conversation/turn.ts";
import { joinClasses, joinSources, type Labels } from "../protocol/label/source.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import { utf8Bytes } from "../protocol/text/encoding.ts";
import { hasEnded } from "./path.ts";
import type { StoredTurns, Turn } from "./stored-turns.ts";

/** What a page is stored with. */
interface PagePorts {
  readonly turns: StoredTurns;
  /** The first run, whose object keeps the files. */
  readonly first: { readonly runId: RunId };
  readonly files: {
    has(hash: string): boolean;
    put(hash: string, base64: string): void;
  };
  /** Stores everything that `work` writes, or nothing of it. */
  readonly transaction: (work: () => void) => void;
}

/**
 * Stores the page of a turn. The conversation keeps its files from now on. Contract: the first page
 * stays.
 */
export function keepPage(
  { first, turns, files: kept, transaction }: PagePorts,
  turn: Turn,
  { page, files }: DeliveredPage,
): void {
  if (hasEnded(turn)) return;
  const before = turn.parent === null ? undefined : turns.at(turn.parent);
  const named = [...keptFilesOf(page.messages).values()];
  const keeper = first.runId;
  transaction(() => {
    for (const [hash, base64] of Object.entries(files)) kept.put(hash, base64);
    const sources = new Map(
      named.flatMap((file) => (kept.has(file.hash) ? [[file.hash, { ...file, keeper }]] : [])),
    );
    const messages = replaceSources(page.messages, sources);
    const labels = messages.reduce<Labels>(
      (known, message) => ({
        sources: joinSources(known.sources, message.sources),
        dataClasses: joinClasses(known.dataClasses, message.dataClasses),
      }),
      before?.end?.labels ?? { sources: [], dataClasses: [] },
    );
    const bytes = utf8Bytes(JSON.stringify(messages));
    const shortBytes = utf8Bytes(JSON.stringify(shortenTurn(messages)));
    turns.end(turn.number, { ...page, messages }, { bytes, shortBytes, labels });
  });
}
