import type {
  ConversationState,
  ExportedFile,
  ListedTurn,
  TurnsQuery,
} from "../capabilities/conversation.ts";
import { keptFilesOf } from "../protocol/conversation/kept-files.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import { maySee, type Viewer } from "../protocol/identity/viewer.ts";
import type { ListPage } from "../protocol/list/page.ts";
import { toIso } from "../protocol/text/iso-time.ts";
import type { ReadTurns, Turn } from "./stored-turns.ts";
import { hasEnded } from "./path.ts";

interface Shown {
  readonly turns: ReadTurns;
  readonly viewer: Viewer;
  /** Reads the content of a file: base64. */
  readonly readFile?: (hash: string) => string | undefined;
}

/** Sums a conversation up for a viewer. Undefined: the viewer may see no turn of it. */
export function summariseTurns(
  { turns, viewer }: Shown,
  {
    conversationId,
    named,
  }: { readonly conversationId: RunId; readonly named?: string | undefined },
): ConversationState | undefined {
  const seen = [...turns.newest()].filter((turn) => isVisible(turn, viewer));
  const [head] = seen;
  if (!head) return undefined;
  const title = named ?? seen.find(({ end }) => end?.title)?.end?.title;
  return {
    conversationId,
    ...(title && { title }),
    // The Worker asks the run of a turn that has not ended.
    status: hasEnded(head) ? turns.page(head.number).shown.status : "running",
    headId: head.runId,
    turns: seen.length,
    createdAt: toIso(turns.at(head.root).openedMs),
  };
}

/** Lists the turns of a conversation that a viewer may see. */
export function listTurns(
  { turns, viewer, readFile }: Shown,
  { limit, isOldestFirst = false, after }: TurnsQuery,
): ListPage<ListedTurn, number> {
  const isAfter = (number: number): boolean =>
    after === undefined || (isOldestFirst ? number > after : number < after);
  const items: ListedTurn[] = [];
  let last = 0;
  for (const turn of isOldestFirst ? turns.oldest(after ?? 0) : turns.newest()) {
    if (!isAfter(turn.number) || !isVisible(turn, viewer)) continue;
    if (items.length === limit) return { items, next: last };
    items.push(showTurn(turns, turn, readFile));
    last = turn.number;
  }
  return { items };
}

function showTurn(turns: ReadTurns, turn: Turn, readFile: Shown["readFile"]): ListedTurn {
  const { runId, messageId, parent, feedback } = turn;
  const place = {
    ...(parent !== null && { parentId: turns.at(parent).runId }),
    ...(messageId !== null && { messageId }),
    ...(feedback && { feedback }),
  };
  if (!hasEnded(turn)) return { runId, ...place, isOpen: true };
  const { shown, messages } = turns.page(turn.number);
  const kept = readFile && exportFiles(messages, readFile);
  return { ...shown, ...place, ...(kept && kept.length > 0 && { kept }) };
}

function exportFiles(
  messages: readonly TranscriptMessage[],
  readFile: (hash: string) => string | undefined,
): readonly ExportedFile[] {
  return [...keptFilesOf(messages).values()].flatMap(({ hash, mediaType }) => {
    const base64 = readFile(hash);
    return base64 === undefined ? [] : [{ hash, mediaType, base64 }];
  });
}

/**
 * Threat: an agent reads what its person said without it. So a turn shows only where the viewer may
 * see the runs of its whole path.
 */
function isVisible(turn: Turn, viewer: Viewer): boolean {
  return turn.others.every((owner) => maySee(owner, viewer));
}
