import type { ConversationState, ListedTurn, TurnsQuery } from "../capabilities/conversation.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import { maySee, type Viewer } from "../protocol/identity/viewer.ts";
import type { ListPage } from "../protocol/list/page.ts";
import { toIso } from "../protocol/text/iso-time.ts";
import type { ReadTurns, Turn } from "./stored-turns.ts";
import { hasEnded } from "./window.ts";

interface Shown {
  readonly turns: ReadTurns;
  readonly viewer: Viewer;
}

/** Sums a conversation up for a viewer. Undefined: the viewer may see no turn of it. */
export function summariseTurns(
  { turns, viewer }: Shown,
  {
    conversationId,
    named,
  }: { readonly conversationId: RunId; readonly named?: string | undefined },
): ConversationState | undefined {
  const seen = [...visible(turns, viewer)];
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

/** Lists the turns of a conversation that a viewer may see, the newest first. */
export function listTurns(
  { turns, viewer }: Shown,
  { limit, after = Number.POSITIVE_INFINITY }: TurnsQuery,
): ListPage<ListedTurn, number> {
  const items: ListedTurn[] = [];
  let last = after;
  for (const turn of visible(turns, viewer)) {
    if (turn.number >= after) continue;
    if (items.length === limit) return { items, next: last };
    items.push(showTurn(turns, turn));
    last = turn.number;
  }
  return { items };
}

function showTurn(turns: ReadTurns, turn: Turn): ListedTurn {
  const { runId, messageId, parent } = turn;
  const place = {
    ...(parent !== null && { parentId: turns.at(parent).runId }),
    ...(messageId !== null && { messageId }),
  };
  if (!hasEnded(turn)) return { runId, ...place, isOpen: true };
  return { ...turns.page(turn.number).shown, ...place };
}

/**
 * Threat: an agent reads what its person said without it. So a turn shows only where the viewer may
 * see the runs of its whole path.
 */
function* visible(turns: ReadTurns, viewer: Viewer): Generator<Turn> {
  for (const turn of turns.newest()) {
    if (turn.others.every((owner) => maySee(owner, viewer))) yield turn;
  }
}
