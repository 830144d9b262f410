import type { ConversationMethods } from "../capabilities/conversation.ts";
import type { ErasureRequest, PersonWorkspaces } from "../capabilities/people.ts";
import type { RunMethods } from "../capabilities/run.ts";
import type { ActorId, RunId } from "../protocol/identity/ids.ts";
import { viewerOfOwner, type Viewer } from "../protocol/identity/viewer.ts";
import type { ListPage, ListPosition } from "../protocol/list/page.ts";
import type { ErasedCounts, LeftData } from "../protocol/person/erasure.ts";

/** How far the erasure of a person has come; it is stored after each step. */
export interface ErasureProgress extends Omit<ErasureRequest, "erasureId"> {
  readonly stage: "conversations" | "calls" | "workspaces" | "ended";
  /** Where the list of the stage goes on. */
  readonly after?: ListPosition;
  /** Number of the next workspace. */
  readonly workspace: number;
  /** Something goes on by itself, so everything is looked at once more. */
  readonly isPending: boolean;
  /** Everything was looked at once, some time ago. */
  readonly isSecondLook: boolean;
  readonly erased: ErasedCounts;
  readonly left: readonly LeftData[];
  readonly without: readonly string[];
}

/** Lists ids of one person's data. */
type ListOf = (personId: ActorId, after?: ListPosition) => ListPage<RunId>;

/** What the erasure of a person works on. */
export interface PersonErasurePorts {
  /** Conversations that the person's runs began. */
  readonly conversations: ListOf;
  /** Calls without a conversation. */
  readonly calls: ListOf;
  /** Takes one off its list. */
  readonly forget: (id: RunId) => void;
  readonly runOf: (
    runId: RunId,
  ) => Pick<RunMethods, "busy" | "erase"> &
    Pick<ConversationMethods, "conversation" | "eraseConversation">;
  readonly workspaces: Pick<PersonWorkspaces, "erasePerson">;
}

/** What became of one piece of data. */
type Outcome = { readonly isErased: true } | { readonly isPending: true } | LeftData;

const NOTHING: ErasedCounts = { conversations: 0, calls: 0, rows: 0 };
/** Data that an answer names. */
const MAX_LEFT = 100;
const ONCE_MORE = { stage: "conversations", workspace: 0, isPending: false, left: [] } as const;

export function beginErasing({ erasureId: _id, ...request }: ErasureRequest): ErasureProgress {
  return { ...request, ...ONCE_MORE, isSecondLook: false, erased: NOTHING, without: [] };
}

/**
 * Takes one step: one page of a list, or one batch of a workspace. Rows of workspaces go last, when
 * no call of the person may ask its ledger again. Contract: a step that is repeated changes nothing
 * but its counts.
 */
export function eraseNext(
  ports: PersonErasurePorts,
  progress: ErasureProgress,
): Promise<ErasureProgress> {
  const { stage } = progress;
  if (stage === "workspaces") return eraseRows(ports, progress);
  return stage === "calls"
    ? erasePage(ports, progress, { name: stage, erase: eraseCall })
    : erasePage(ports, progress, { name: "conversations", erase: eraseConversation });
}

/** Erases a conversation, or a call. */
type Erase = (ports: PersonErasurePorts, id: RunId, viewer: Viewer) => Promise<Outcome>;

async function erasePage(
  ports: PersonErasurePorts,
  progress: ErasureProgress,
  { name, erase }: { readonly name: "conversations" | "calls"; readonly erase: Erase },
): Promise<ErasureProgress> {
  const { tenantId, personId, after: last, ...before } = progress;
  const { items, next } = ports[name](personId, last);
  const viewer = viewerOfOwner({ tenantId, actorId: personId });
  const place = name === "calls" ? "runId" : "conversationId";
  const outcomes = await Promise.all(
    items.map((id) =>
      // Not reached: it may be the next time.
      erase(ports, id, viewer).catch(() => ({ [place]: id, why: ["unreachable"] as const })),
    ),
  );
  let count = before.erased[name];
  for (const [index, id] of items.entries()) {
    if (!("isErased" in (outcomes[index] ?? {}))) continue;
    ports.forget(id);
    count++;
  }
  const left = [...before.left, ...outcomes.filter((outcome) => "why" in outcome)];
  const isPending = before.isPending || outcomes.some((outcome) => "isPending" in outcome);
  const erased = { ...before.erased, [name]: count };
  const done = { ...before, tenantId, personId, erased, left: left.slice(0, MAX_LEFT), isPending };
  if (next) return { ...done, after: next };
  if (name === "conversations") return { ...done, stage: "calls" };
  if (isPending) return { ...done, ...ONCE_MORE };
  return { ...done, stage: left.length > 0 ? "ended" : "workspaces" };
}

async function eraseConversation(
  { runOf }: PersonErasurePorts,
  conversationId: RunId,
  viewer: Viewer,
): Promise<Outcome> {
  const answer = await runOf(conversationId).eraseConversation(viewer);
  switch (answer.kind) {
    case "erasing":
      return answer.turnsLeft > 0 ? { isPending: true } : { isErased: true };
    case "busy":
      return { conversationId, why: [...new Set(answer.runs.flatMap(({ why }) => why))] };
    case "unknown": {
      // One that expired is still listed for a while.
      const { kind } = await runOf(conversationId).conversation(viewer);
      return kind === "unknown" ? { isErased: true } : { conversationId, why: ["shared"] };
    }
    case "gone":
    case "erased":
      return { isErased: true };
  }
}

async function eraseCall(
  { runOf }: PersonErasurePorts,
  runId: RunId,
  viewer: Viewer,
): Promise<Outcome> {
  const run = runOf(runId);
  const busy = await run.busy(viewer);
  if (busy.kind === "busy" && busy.why.length > 0) return { runId, why: busy.why };
  const answer = await run.erase(viewer);
  return answer.kind === "pending" ? { isPending: true } : { isErased: true };
}

async function eraseRows(
  ports: PersonErasurePorts,
  progress: ErasureProgress,
): Promise<ErasureProgress> {
  const { personId, workspaces, workspace: number, erased, left, without } = progress;
  const address = workspaces[number];
  if (!address) return end(ports, progress);
  const workspace = `${address.name}/${address.workspaceId}`;
  const answer = await ports.workspaces.erasePerson(address, personId);
  const then = { ...progress, workspace: number + 1 };
  if (answer.kind !== "erased") {
    return answer.kind === "undeclared"
      ? { ...then, without: [...without, workspace] }
      : { ...then, left: [...left, { workspace, why: ["unreachable"] }] };
  }
  const counted = { ...erased, rows: erased.rows + answer.rows };
  return answer.isMore ? { ...progress, erased: counted } : { ...then, erased: counted };
}

/**
 * Looks at everything twice, because the lists follow the runs with a delay; and until nothing is
 * listed that the person said meanwhile.
 */
function end(ports: PersonErasurePorts, progress: ErasureProgress): ErasureProgress {
  const { personId, isSecondLook, left } = progress;
  const lists = [ports.conversations, ports.calls];
  const isOver = isSecondLook && lists.every((list) => list(personId).items.length === 0);
  return isOver || left.length > 0
    ? { ...progress, stage: "ended" }
    : { ...progress, ...ONCE_MORE, isSecondLook: true, without: [] };
}
