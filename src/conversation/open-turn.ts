import type { TurnAnswer, TurnRequest } from "../capabilities/conversation.ts";
import { checkContinuation } from "../protocol/conversation/client-history.ts";
import { keptFilesOf } from "../protocol/conversation/kept-files.ts";
import { MAX_CONVERSATION_FILE_BYTES } from "../protocol/conversation/sent-file.ts";
import { CLAIM_WITHIN_MS, MAX_TURNS, ROOT } from "../protocol/conversation/turn.ts";
import type { RunId } from "../protocol/identity/ids.ts";
import { isOwn, ownsAs, type RunOwner, type Viewer } from "../protocol/identity/viewer.ts";
import { hasEnded, type EndedTurn } from "./path.ts";
import type { StoredTurns, Turn } from "./stored-turns.ts";
import { mayAsk } from "./summaries.ts";
import { readWindow, type HashNow } from "./window.ts";

/** What a turn is opened in. */
export interface OpeningPorts {
  readonly conversationId: RunId;
  readonly owner: RunOwner;
  readonly turns: StoredTurns;
  readonly keepsFile: (hash: string) => boolean;
  readonly hash: HashNow;
  readonly nowMs: number;
}

/** The answer; or a turn whose end must be known first, and the answer while it has not ended. */
export type Opening =
  | TurnAnswer
  | { readonly kind: "unsettled"; readonly turn: Turn; readonly answer: TurnAnswer };

/** The turn that a post continues; null at a root. */
type Parent = { readonly kind: "parent"; readonly turn: EndedTurn | null };

/**
 * Opens a turn, or finds it. Contract: synchronous, so that posts that come together meet; a
 * refusal stores nothing.
 */
export function openTurn(ports: OpeningPorts, viewer: Viewer, request: TurnRequest): Opening {
  const known = findKnown(ports, request);
  if (known) {
    const opened = answer(ports, known, request);
    const isStale = known.openedMs < ports.nowMs - 2 * CLAIM_WITHIN_MS;
    const isUnsettled = !hasEnded(known) && (isStale || request.isAgain === true);
    return isUnsettled ? { kind: "unsettled", turn: known, answer: opened } : opened;
  }
  const found = findParent(ports, viewer, request);
  if (found.kind !== "parent") return found;
  const { turns, nowMs } = ports;
  if (turns.next > MAX_TURNS) return { kind: "too_many_turns" };
  const { runId, owner, messageId = null, hash } = request;
  const parent = found.turn;
  if (request.isOnce && hasFollower(turns, parent, messageId)) return { kind: "answered" };
  const turn: Turn = {
    number: turns.next,
    runId,
    parent: parent?.number ?? null,
    root: parent?.root ?? turns.next,
    depth: parent ? parent.depth + 1 : 0,
    messageId,
    hash,
    owner,
    others: joinOwners(ports.owner, parent?.others ?? [], owner),
    openedMs: nowMs,
    end: null,
  };
  const opened = answer(ports, turn, request);
  if (opened.kind !== "turn") return opened;
  turns.add(turn);
  const target = opened.summarise && turns.of(opened.summarise.upTo);
  if (target) turns.summarise(target.number, { by: turn.number });
  return opened;
}

/**
 * Finds a turn that the same request opened: under the same key, or with the same message id and
 * text; or one whose run was told the same message while it went on. The first turn of a named chat
 * has the run of the chat and keeps its key; another unclaimed turn of a key is among the newest,
 * and a claimed one was answered by its run. Who asks again gets a new turn once the one before has
 * ended.
 */
function findKnown(
  { turns, nowMs }: OpeningPorts,
  { runId, messageId, hash, parentId, headId, isAgain, saidKey }: TurnRequest,
): Turn | undefined {
  const first = turns.at(1);
  if (first.keyRunId === runId) return first;
  const before = saidKey === undefined ? undefined : turns.of(parentId ?? headId ?? "");
  if (before?.end?.saidKeys.includes(saidKey ?? "")) return before;
  const named = turns.of(runId);
  const [next] = named ? turns.oldest(named.number) : [];
  const isAmongNewest = !next || next.openedMs >= nowMs - 2 * CLAIM_WITHIN_MS;
  if (named && isAmongNewest) return named;
  if (messageId === undefined) return undefined;
  const after = parentId ?? headId;
  return turns.withMessage(messageId).find((turn) => {
    const before = turn.parent === null ? ROOT : turns.at(turn.parent).runId;
    const isOver = isAgain === true && hasEnded(turn);
    return turn.hash === hash && (after ?? before) === before && !isOver;
  });
}

/**
 * Finds the turn that a post continues.
 * Threat: an agent that acts for a person reads what the person said without it. So a path counts
 * only where the viewer owns every turn, and any other one is as unknown as an invented one.
 */
function findParent(
  { turns }: OpeningPorts,
  viewer: Viewer,
  { parentId, headId }: TurnRequest,
): Parent | Exclude<Opening, { kind: "turn" }> {
  if (parentId === ROOT) return { kind: "parent", turn: null };
  const named = parentId ?? headId;
  const isOwnPath = (turn: Turn): boolean => turn.others.every((owner) => isOwn(owner, viewer));
  const head = findNewest(turns, isOwnPath);
  const found = named === undefined ? head : turns.of(named);
  if (!head || !found || !isOwnPath(found)) return { kind: "unknown_parent" };
  if (parentId === undefined && found.number !== head.number) {
    const moved = { kind: "moved", headId: head.runId } as const;
    return hasEnded(head) ? moved : { kind: "unsettled", turn: head, answer: moved };
  }
  return hasEnded(found)
    ? { kind: "parent", turn: found }
    : { kind: "unsettled", turn: found, answer: { kind: "busy", runId: found.runId } };
}

/** Tells whether a turn is followed by a message under this id. */
function hasFollower(turns: StoredTurns, parent: Turn | null, messageId: string | null): boolean {
  const named = messageId === null ? [] : turns.withMessage(messageId);
  return named.some((turn) => turn.parent === parent?.number);
}

function findNewest(turns: StoredTurns, isWanted: (turn: Turn) => boolean): Turn | undefined {
  for (const turn of turns.newest()) if (isWanted(turn)) return turn;
  return undefined;
}

function joinOwners(
  first: RunOwner,
  before: readonly RunOwner[],
  owner: RunOwner,
): readonly RunOwner[] {
  const isKnown = [first, ...before].some((other) => ownsAs(other, owner));
  return isKnown ? before : [...before, owner];
}

/** Answers what the run of a turn claims, or why the model could not be shown it. */
function answer(
  { conversationId, turns, keepsFile, hash }: OpeningPorts,
  turn: Turn,
  { sent, maxHistoryBytes: maxBytes, historyRule }: TurnRequest,
): TurnAnswer {
  const { parent, runId, openedMs } = turn;
  const before = parent === null ? undefined : turns.at(parent);
  const bounds = { ...historyRule, maxBytes, hash };
  const window = before && hasEnded(before) && readWindow(turns, before, bounds);
  if (before && !window) return { kind: "too_long" };
  const { messages = [], history, missing } = window || {};
  const failure = messages.length > 0 ? checkContinuation(messages, sent) : undefined;
  if (failure) return { kind: "misfit", failure };
  const files = [...keptFilesOf([...messages, ...sent]).values()];
  if (files.reduce((sum, { bytes }) => sum + bytes, 0) > MAX_CONVERSATION_FILE_BYTES) {
    return { kind: "files_too_large" };
  }
  const kept = [...keptFilesOf(sent).keys()].filter(keepsFile);
  const opened = { kind: "turn", runId, conversationId, openedMs, window: messages, kept } as const;
  const { summary } = historyRule ?? {};
  const summarise = summary &&
    missing &&
    mayAsk(turns, missing, turn) && {
      upTo: missing.runId,
      rule: { ...historyRule, summary },
      maxBytes,
    };
  return { ...opened, ...(history && { history }), ...(summarise && { summarise }) };
}
