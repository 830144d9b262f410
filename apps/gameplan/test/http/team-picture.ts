import type { Caller } from "../../../../test/shared/worker.ts";
import type { Data } from "../studio.ts";
import type { Team } from "./teammate.ts";

const ID = /\b(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|run_\w+)\b/g;
const TIME = /\d{4}-\d\d-\d\d(?:T[\d:.]+Z)?/g;

/**
 * Writes a value without what no two workspaces share: ids are numbered as they appear, and times
 * are left out.
 */
export function withoutIds(value: unknown): string {
  const numbers = new Map<string, string>();
  const numberOf = (id: string): string => {
    const known = numbers.get(id) ?? `#${numbers.size + 1}`;
    numbers.set(id, known);
    return known;
  };
  return JSON.stringify(value, undefined, 1).replaceAll(ID, numberOf).replaceAll(TIME, "then");
}

/** All that a reader sees of a project: its rows, its activity, its bin and its export. */
export async function readPicture(
  team: Team,
  reader: Caller,
  projectId: string,
): Promise<Readonly<Record<string, unknown>>> {
  const read = (tool: string, args: object): Promise<Data> => team.read(reader, tool, args);
  const list = async (tool: string): Promise<Data[]> => {
    const { items, next } = await read(tool, { projectId, limit: 100 });
    if (next !== null) throw new Error(`${tool} has more pages`);
    return items;
  };
  const { text } = await read("export_data", { projectId });
  const threads = [];
  for (const { id: threadId } of await list("list_idea_threads")) {
    const { thread, items } = await read("get_thread_messages", { threadId });
    // What a reader has not read yet is that reader's own.
    threads.push({ ...thread, unreadCount: 0, items: items.map(withoutRevision) });
  }
  const brainstorms = [];
  for (const { id: brainstormId } of await list("list_brainstorms")) {
    brainstorms.push(await read("get_brainstorm", { brainstormId }));
  }
  const documents = [];
  for (const { id: exportId } of await list("list_exports")) {
    documents.push(await read("get_export", { exportId }));
  }
  const changes = await list("get_project_activity");
  const bin = await list("list_bin");
  return {
    data: JSON.parse(text),
    threads,
    brainstorms,
    documents,
    activity: changes.map(withoutCall),
    bin: bin.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1)),
  };
}

/** Only its author learns the revision of a message. */
function withoutRevision({ revision: _revision, ...message }: Data): object {
  return message;
}

/** Only its author learns the call of a change. */
function withoutCall({ call: _call, ...change }: Data): object {
  return change;
}

/** Things that are deleted in one millisecond have no order. */
function nameOf({ entity, name, revision }: Data): string {
  return `${entity} ${name} ${revision}`;
}
