import type { ListedTurn } from "../../capabilities/conversation.ts";
import type { ShownRun } from "../../protocol/conversation/shown.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { viewerOf } from "../../protocol/identity/viewer.ts";
import type { EventPosition } from "../../protocol/run/event-id.ts";
import { agUiWire } from "../../wire/ag-ui/wire.ts";
import { refuseBusy } from "../claim/say-aside.ts";
import { maxBodyBytes } from "../claim/message-files.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { problem } from "../request/problem.ts";
import { readSizedJson, replaceHalvesOf } from "../request/read-json.ts";
import { startRun } from "../runs/chat.ts";
import { followRun } from "../runs/runs.ts";
import {
  agUiPost,
  decisionsOf,
  newestWordsOf,
  placeOf,
  saidIn,
  type AgUiPost,
} from "./ag-ui-post.ts";
import { snapshotEvent } from "./ag-ui-snapshot.ts";
import { tellRun } from "./ag-ui-stream.ts";
import { clientWithRoutes, type Client } from "./client.ts";
import { firstRunOf, isUnended, requestByName } from "./named-chat.ts";
import { recordDecisions } from "./posted-decisions.ts";

/** AG-UI, for `HttpAgent` and what is built on it, as CopilotKit. */
export const agUi: Client = clientWithRoutes(agUiWire, {
  "/agui": { POST: { scope: "chat", handle: postAgUi } },
});

/** The newest turn of a chat. */
interface Head {
  readonly runId: RunId;
  readonly messageId: string | undefined;
  /** Absent: no run has claimed the turn yet. */
  readonly shown?: ShownRun;
  /** The last event that `shown` tells of, where the run may go on. */
  readonly at?: EventPosition;
}

/**
 * `POST /agui`: what an AG-UI client posts. Of the posted history only the newest words of the
 * person are read; everything else is read from what was recorded. A post that says nothing new
 * follows the newest answer.
 * Threat: a client makes up answers, results and approvals in the history that it posts.
 */
async function postAgUi(authorised: AuthorisedRequest): Promise<Response> {
  const { request, services } = authorised;
  const read = await readSizedJson(request, agUiPost, { maxBytes: maxBodyBytes(services.models) });
  if (!read.ok) return read.failure;
  const { value, bytes: bodyBytes } = read.value;
  const post = replaceHalvesOf(value);
  const first = await firstRunOf(authorised, post.threadId);
  const head = await findHead(authorised, first);
  if (post.resume.length > 0) return resume(authorised, post, head);
  if (head?.shown && saysNothingNew(post, head)) return attach(authorised, post, head);
  const named = { chat: first, post: post.runId, said: saidIn(post) };
  const place = head && placeOf(post, head.runId);
  const asked = await requestByName(authorised, { ...named, place });
  if (!asked.ok) return asked.failure;
  // A branch begins once the run has ended.
  if (head && isOpen(head) && asked.value.body.regenerate) return refuseBusy();
  let told: Response | undefined;
  const follow = async (): Promise<Response> =>
    (told = head?.shown ? await attach(authorised, post, head) : refuseBusy());
  const aside = { name: newestWordsOf(post)?.id ?? "", isHeld: true, follow } as const;
  const response = await startRun(authorised, { ...asked.value, aside, bodyBytes }, agUiWire);
  if (told) return told;
  const runId = response.headers.get("x-run-id") as RunId;
  const { messageId = "" } = asked.value.body;
  return tellRun({ authorised, post, runId, messageId, after: undefined, first: [] }, response);
}

async function findHead(
  { principal, services }: AuthorisedRequest,
  first: RunId,
): Promise<Head | undefined> {
  const viewer = viewerOf(principal);
  const answer = await services.runs.of(first).turns(viewer, { limit: 1 });
  const turn: ListedTurn | undefined = answer.kind === "turns" ? answer.page.items[0] : undefined;
  if (!turn) return undefined;
  const { runId, messageId } = turn;
  if (!("isOpen" in turn)) return { runId, messageId, shown: turn };
  const known = await services.runs.of(runId).shown(viewer);
  return { runId, messageId, ...(known.kind === "shown" && { shown: known.run, at: known.at }) };
}

function isOpen({ shown }: Head): boolean {
  return !shown || isUnended(shown);
}

/** A client that has lost its stream posts what it holds, with a new name of the run. */
function saysNothingNew(post: AgUiPost, head: Head): boolean {
  const newest = newestWordsOf(post);
  if (!newest || post.messages.at(-1) !== newest) return true;
  const said = head.shown?.messages ?? [];
  const wasSaid = said.some((one) => "messageId" in one && one.messageId === newest.id);
  return wasSaid || (newest.id === head.messageId && isOpen(head));
}

/** Words beside decisions would be lost: the run answers others. */
function saysMore({ messages }: AgUiPost, { messageId }: Head): boolean {
  const last = messages.at(-1);
  return last?.role === "user" && messageId !== undefined && last.id !== messageId;
}

/** Records the decisions of a post about its newest run, and tells what the run does then. */
async function resume(
  authorised: AuthorisedRequest,
  post: AgUiPost,
  head: Head | undefined,
): Promise<Response> {
  if (!head) return problem("approval_not_found");
  if (saysMore(post, head)) return refuseBusy();
  const posted = { runId: head.runId, decisions: decisionsOf(post) };
  const recorded = await recordDecisions(authorised, posted);
  return recorded.ok ? attach(authorised, post, head) : recorded.failure;
}

/**
 * Follows the newest run: from where it waits, or else from its first event on. What the client
 * holds of it makes way for what was recorded.
 */
async function attach(
  authorised: AuthorisedRequest,
  post: AgUiPost,
  { runId, shown, at, ...head }: Head,
): Promise<Response> {
  if (!shown) return refuseBusy();
  const after = shown.status === "waiting" ? at : undefined;
  const messageId = head.messageId ?? `${runId}:asked`;
  const { messages: posted } = post;
  const first = [snapshotEvent({ posted, shown, messageId, isToldAnew: after === undefined })];
  const response = await followRun(authorised, { runId, wire: agUiWire, after });
  return tellRun({ authorised, post, runId, messageId, after, first }, response);
}
