import * as v from "valibot";
import { actorsOf } from "../../protocol/identity/principal.ts";
import { viewerOfOwner, type Viewer } from "../../protocol/identity/viewer.ts";
import type { ListPosition } from "../../protocol/list/page.ts";
import { toIso } from "../../protocol/text/iso-time.ts";
import { showTurn } from "../conversations/conversations.ts";
import type { AuthorisedRequest } from "../request/authorise.ts";
import { nextCursor, parameters, readCursor, readQuery } from "../request/list-query.ts";
import type { AskedPerson } from "./asked-person.ts";

/** What one page of an export holds. */
interface ExportPlace {
  /** `recent`: conversations that went on during the export, once more. */
  readonly part: "conversations" | "recent" | "calls" | "consents" | "workspaces";
  /** When the export began. Unit: Unix milliseconds. */
  readonly sinceMs: number;
  /** Where the list goes on; in a conversation, the one before it. */
  readonly after?: ListPosition;
  /** The last turn of the conversation that was exported. */
  readonly turn?: number;
  /** Number of the workspace, and where its rows go on. */
  readonly workspace?: number;
  readonly row?: string;
}

interface PersonPage {
  readonly body: object;
  /** Absent: the export ends here. */
  readonly next?: ExportPlace;
}

interface Asking {
  readonly authorised: AuthorisedRequest;
  readonly person: AskedPerson;
  readonly viewer: Viewer;
}

type ReadPart = (asking: Asking, place: ExportPlace) => Promise<PersonPage>;

export const query = v.strictObject({ cursor: parameters.cursor });
/** Turns and calls of one page. */
const LIMIT = 10;

/** Answers one page of an export. The cursor is all that an export needs to go on. */
export async function exportPage(
  authorised: AuthorisedRequest,
  person: AskedPerson,
): Promise<Response> {
  const { request, principal, services } = authorised;
  const read = readQuery(request, query);
  if (!read.ok) return read.failure;
  const { tenantId } = principal;
  const { personId } = person;
  const scope = ["person", tenantId, personId];
  const at = await readCursor<ExportPlace>(authorised, read.value.cursor, scope);
  if (!at.ok) return at.failure;
  const sinceMs = services.clock.nowMs();
  const place = at.value ?? { part: "conversations", sinceMs };
  const viewer = viewerOfOwner({ tenantId, actorId: personId });
  if (!at.value) {
    const fact = { action: "person.exported", person: { hash: person.hash } } as const;
    await services.trail.record(tenantId, {
      ...fact,
      at: toIso(sinceMs),
      ...actorsOf(principal),
    });
  }
  const { body, next } = await PARTS[place.part]({ authorised, person, viewer }, place);
  const cursor = await nextCursor(authorised, { items: [], ...(next && { next }) }, scope);
  return Response.json({ part: place.part, ...body, ...cursor });
}

const readConversation: ReadPart = async (asking, place) => {
  const { authorised, person, viewer } = asking;
  const { principal, services } = authorised;
  const { personId } = person;
  const { part, sinceMs, after, turn } = place;
  const { items, next } = await services.conversations.list(principal.tenantId, {
    person: personId,
    actor: personId,
    isDelegate: false,
    isPersonOnly: true,
    limit: 1,
    ...(after && { after }),
  });
  const [conversation] = items;
  const isOver = part === "recent" && Date.parse(conversation?.updatedAt ?? "") < sinceMs;
  if (!conversation || isOver) {
    return { body: {}, next: { part: part === "recent" ? "calls" : "recent", sinceMs } };
  }
  const answer = await services.runs.of(conversation.conversationId).turns(viewer, {
    limit: LIMIT,
    isOldestFirst: true,
    withFiles: true,
    ...(turn !== undefined && { after: turn }),
  });
  const { items: listed, next: last } =
    answer.kind === "turns" ? answer.page : { items: [], next: undefined };
  const turns = await Promise.all(listed.map((one) => showTurn(services, viewer, one)));
  const body = { conversation, turns: turns.filter((one) => one !== undefined) };
  if (last !== undefined) return { body, next: { ...place, turn: last } };
  return {
    body,
    next: next
      ? { part, sinceMs, after: next }
      : { part: part === "recent" ? "calls" : "recent", sinceMs },
  };
};

const readCalls: ReadPart = async ({ authorised, person, viewer }, { sinceMs, after }) => {
  const { principal, services } = authorised;
  const { items, next } = await services.directory.list(principal.tenantId, {
    viewer: { person: person.personId },
    kind: "call",
    limit: LIMIT,
    ...(after && { after }),
  });
  const answers = await Promise.all(
    items.map(({ runId }) => services.runs.of(runId).state(viewer)),
  );
  const calls = answers.flatMap((answer) => (answer.kind === "run" ? [answer.state] : []));
  const then = next ? { part: "calls" as const, after: next } : { part: "consents" as const };
  return { body: { calls }, next: { ...then, sinceMs } };
};

const readConsents: ReadPart = async ({ authorised, person }, { sinceMs, after }) => {
  const { principal, services } = authorised;
  const { items: consents, next } = await services.consents.list(principal.tenantId, {
    person: person.personId,
    limit: LIMIT,
    ...(after && { after }),
  });
  const then = next ? { part: "consents" as const, after: next } : { part: "workspaces" as const };
  return { body: { consents }, next: { ...then, sinceMs } };
};

const readRows: ReadPart = async ({ authorised, person }, place) => {
  const { personId, workspaces } = person;
  const { workspace: number = 0, row, sinceMs } = place;
  const address = workspaces[number];
  if (!address) return { body: {} };
  const page = { personId, ...(row !== undefined && { after: row }) };
  const answer = await authorised.services.workspaces.people.exportPerson(address, page);
  const workspace = { name: address.name, id: address.workspaceId };
  const following = { part: "workspaces", sinceMs, workspace: number + 1 } as const;
  const isLast = number + 1 === workspaces.length;
  if (answer.kind !== "rows") {
    return { body: { workspace, without: answer.kind }, ...(!isLast && { next: following }) };
  }
  const { rows, next } = answer;
  const then = next === undefined ? !isLast && following : { ...place, row: next };
  return { body: { workspace, rows }, ...(then && { next: then }) };
};

const PARTS: Readonly<Record<ExportPlace["part"], ReadPart>> = {
  conversations: readConversation,
  recent: readConversation,
  calls: readCalls,
  consents: readConsents,
  workspaces: readRows,
};
