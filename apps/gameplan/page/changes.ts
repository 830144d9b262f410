import { createParser } from "eventsource-parser";
import type { Failure } from "../../../src/client/failure.ts";
import type { Result } from "../../../src/protocol/outcome/result.ts";
import { wait, type Wait } from "../../../src/client/backoff.ts";
import { sendOnce } from "../../../src/client/call.ts";
import { followStream } from "../../../src/client/follow-stream.ts";
import { type ClientOptions, toPorts } from "../../../src/client/ports.ts";
import { isJsonObject } from "../../../src/protocol/json/value.ts";
import type { StreamBatch } from "../../../src/protocol/run/stream-batch.ts";
import { untilSeen } from "../../../src/widget/until-seen.ts";
import { textOf } from "./read-json.ts";
import { untilOnline } from "./until-online.ts";

/** One changed row of the workspace. */
export interface Change {
  readonly entity: string;
  readonly id: string;
}

export interface ChangesPorts {
  readonly api: ClientOptions;
  readonly signal: AbortSignal;
  /** Undefined: the page may have missed changes, and reads everything again. */
  readonly onChanges: (changes: readonly Change[] | undefined) => void;
  /** The connection was lost or is back. */
  readonly onLink: (isOpen: boolean) => void;
}

/**
 * Follows the changes of the reader's workspace until aborted. `workspaces` finds it, as often as
 * needed, where the page names none.
 * Contract: never throws. Ends when the server refuses for good, or there is no workspace.
 */
export async function followWorkspace(
  known: string | undefined,
  {
    workspaces,
    ...ports
  }: ChangesPorts & { readonly workspaces: () => Promise<Result<readonly string[], Failure>> },
): Promise<void> {
  let workspaceId = known;
  for (let attempt = 1; workspaceId === undefined; attempt += 1) {
    const own = await workspaces();
    if (ports.signal.aborted) return;
    if (own.ok) [workspaceId] = own.value;
    if (own.ok ? workspaceId === undefined : !own.failure.isTransient) return;
    if (!own.ok) await untilOnline(attempt, ports.signal);
  }
  await followChanges(workspaceId, ports);
}

/** The server ends each stream after some minutes. */
const RETURN_AFTER_MS = 500;
/** How often a page without a connection tries it, as an attempt of `untilOnline`. */
const SELDOM = 5;

/** A page that nobody sees waits longer. */
const waitSeen: Wait = async (ms, signal) => {
  await wait(ms, signal);
  await untilSeen(signal);
};

/**
 * Follows the changes of a workspace until aborted, while the page is seen. After a lost connection
 * the server continues after the last change that arrived.
 * Contract: never throws. Ends when the server refuses for good.
 */
async function followChanges(workspaceId: string, ports: ChangesPorts): Promise<void> {
  const { api, signal, onChanges, onLink } = ports;
  const server = toPorts({ ...api, wait: waitSeen });
  const path = { name: "gameplan", id: workspaceId };
  let lastEventId: string | undefined;
  const task = {
    open(connection: AbortSignal) {
      const headers = { accept: "text/event-stream", "last-event-id": lastEventId };
      const request = { path, headers, signal: connection };
      return sendOnce(server, "GET /v1/workspaces/{name}/{id}/changes", request);
    },
    read: readAnnounced,
    pause: () => waitSeen(RETURN_AFTER_MS, signal),
    onLink: (link: string) => onLink(link === "open"),
    signal,
  };
  while (!signal.aborted) {
    for await (const step of followStream(task, server)) {
      if (step.kind === "broken" && step.failure?.isTransient === false) return;
      if (step.kind !== "events") break;
      lastEventId = step.events.findLast(({ id }) => id !== undefined)?.id ?? lastEventId;
      if (step.events.some(({ isReset }) => isReset)) onChanges(undefined);
      const changes = step.events.flatMap((one) => one.changes);
      if (changes.length > 0) onChanges(changes);
    }
    await untilOnline(SELDOM, signal);
  }
}

/** One event of the stream. A reset: the page may have missed changes. */
interface Announced {
  readonly id: string | undefined;
  readonly isReset: boolean;
  readonly changes: readonly Change[];
}

async function* readAnnounced(
  body: ReadableStream<Uint8Array>,
): AsyncGenerator<StreamBatch<Announced>, void, undefined> {
  let items: Announced[] = [];
  const parser = createParser({
    onEvent({ id, event, data }) {
      const isReset = event === "workspace_reset";
      items.push({ id, isReset, changes: isReset ? [] : readChange(data) });
    },
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const read = await reader.read().catch(() => undefined);
      if (!read) return yield { items: [], end: { kind: "cut" } };
      if (read.done) return yield { items: [], end: { kind: "waiting", returnAfterMs: undefined } };
      items = [];
      parser.feed(decoder.decode(read.value, { stream: true }));
      yield { items };
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

function readChange(data: string): readonly Change[] {
  try {
    const change: unknown = JSON.parse(data);
    if (!isJsonObject(change) || textOf(change, "entity") === "") return [];
    return [{ entity: textOf(change, "entity"), id: textOf(change, "id") }];
  } catch {
    return [];
  }
}
