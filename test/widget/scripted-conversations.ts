import { shownRunOf } from "../../src/run/shown-run.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { Reply } from "./scripted-approvals.ts";

/** When each scripted run began. */
export const FIRST_MOMENT = new Date(0).toISOString();

/** What a conversation shows of a run. */
interface ShownRun {
  readonly id: string;
  readonly events: readonly AiEvent[];
  readonly asked: {
    readonly messages: readonly { readonly content: string }[];
    readonly previousRunId?: string;
    readonly parentId?: string;
    readonly messageId?: string;
    readonly conversationId?: string;
    readonly assistantId?: string;
  };
}

/** Returns the conversation of a run; one that names none begins one, which has its id. */
export function conversationOf({ id, asked }: Pick<ShownRun, "id" | "asked">): string {
  return asked.conversationId ?? id;
}

/** The conversations of a scripted API: all of its runs, as the product shows them. */
export class ScriptedConversations {
  /** Turns of one page. */
  pageSize = 25;

  owns(path: string): boolean {
    return path.startsWith("/v1/conversations");
  }

  answer(path: string, all: readonly ShownRun[], isGone: boolean): Reply {
    const { pathname, searchParams } = new URL(path, "http://any");
    const [, , , id, what] = pathname.split("/");
    if (id === undefined) {
      return { status: 200, body: { conversations: list(all, searchParams.get("assistant")) } };
    }
    if (isGone) return { status: 410, body: { code: "conversation_erased" } };
    const runs = all.filter((run) => conversationOf(run) === id);
    const head = runs.at(-1);
    if (!head) return { status: 404, body: { code: "conversation_not_found" } };
    if (what === undefined) return { status: 200, body: { ...describe(runs), headId: head.id } };
    const end = Number(searchParams.get("cursor") ?? runs.length);
    const from = Math.max(0, end - this.pageSize);
    const turns = runs.slice(from, end).map(showTurn).toReversed();
    return { status: 200, body: { turns, ...(from > 0 && { next: String(from) }) } };
  }
}

/** Lists the newest conversation, where it is one with this assistant; null stands for any. */
function list(all: readonly ShownRun[], assistant: string | null): readonly object[] {
  const runs = all.filter(({ asked }) => assistant === null || asked.assistantId === assistant);
  const newest = runs.at(-1);
  if (!newest) return [];
  return [describe(runs.filter((run) => conversationOf(run) === conversationOf(newest)))];
}

function describe(runs: readonly ShownRun[]): object {
  const title = titleOf(runs);
  const [first] = runs;
  const conversationId = first && conversationOf(first);
  const times = { createdAt: FIRST_MOMENT, updatedAt: FIRST_MOMENT };
  return { conversationId, ...(title && { title }), turns: runs.length, ...times };
}

function titleOf(runs: readonly ShownRun[]): string | undefined {
  const titles = runs.flatMap(({ events }) => events.filter(({ type }) => type === "title_set"));
  const newest = titles.at(-1);
  return newest?.type === "title_set" ? newest.title : undefined;
}

function showTurn({ id, events, asked }: ShownRun): object {
  const done = events.find((event) => event.type === "done");
  const { messageId, parentId, previousRunId } = asked;
  const before = parentId ?? previousRunId;
  const run = {
    identity: () => ({ runId: id, createdMs: 0, claimedMessages: asked.messages.length }),
    progress: () => ({
      reason: done?.reason ?? null,
      error: done?.error ?? null,
      title: titleOf([{ id, events, asked }]) ?? null,
      endedMs: done ? 1 : null,
    }),
    incarnations: () => ({ isWaiting: false }),
  };
  const shown = shownRunOf({
    store: run,
    journal: { events: () => events },
    transcript: {
      all: () => asked.messages.map(({ content }) => ({ role: "user", text: content })),
    },
  } as never);
  return {
    ...shown,
    ...(before !== undefined && before !== "root" && { parentId: before }),
    ...(messageId !== undefined && { messageId }),
  };
}
