import { createParser } from "eventsource-parser";
import { isJsonObject } from "../../protocol/json/value.ts";
import { type ApiOptions, sendAuthorised } from "../../client/send-authorised.ts";
import { backoffMs, wait } from "../../client/backoff.ts";
import { untilSeen } from "../until-seen.ts";
import { textOf } from "./read-json.ts";

/** One changed row of the workspace. */
export interface Change {
  readonly entity: string;
  readonly id: string;
}

export interface ChangesPorts {
  readonly api: ApiOptions;
  readonly signal: AbortSignal;
  /** Undefined: the page may have missed changes, and reads everything again. */
  readonly onChanges: (changes: readonly Change[] | undefined) => void;
  /** The connection was lost or is back. */
  readonly onLink: (isOpen: boolean) => void;
}

const FIRST_DELAY_MS = 500;
/** The delays grow from 0.5 s to 32 s. */
const MAX_ATTEMPT = 7;

/**
 * Follows the changes of a workspace until aborted, while the page is seen. After a lost connection
 * the server continues after the last change that arrived.
 * Contract: never throws. Ends when the server refuses for good.
 */
export async function followChanges(workspaceId: string, ports: ChangesPorts): Promise<void> {
  const { signal, onLink } = ports;
  const position = { lastEventId: undefined as string | undefined };
  for (let losses = 0; !signal.aborted; losses = Math.min(MAX_ATTEMPT, losses + 1)) {
    await untilSeen(signal);
    const end = await followOnce(workspaceId, position, ports);
    if (end === "refused" || signal.aborted) return;
    // The server ends each stream after some minutes. That is no loss.
    if (end === "cut") losses = 0;
    else onLink(false);
    const attempt = losses + 1;
    await wait(backoffMs({ firstMs: FIRST_DELAY_MS, attempt, random: Math.random() }), signal);
  }
}

type FollowEnd = "cut" | "unreachable" | "refused";

async function followOnce(
  workspaceId: string,
  position: { lastEventId: string | undefined },
  { api, signal, onChanges, onLink }: ChangesPorts,
): Promise<FollowEnd> {
  const headers: Record<string, string> = { accept: "text/event-stream" };
  if (position.lastEventId !== undefined) headers["last-event-id"] = position.lastEventId;
  const path = `v1/workspaces/gameplan/${encodeURIComponent(workspaceId)}/changes`;
  let changes: Change[] = [];
  const parser = createParser({
    onEvent({ id, event, data }) {
      position.lastEventId = id ?? position.lastEventId;
      if (event === "workspace_reset") onChanges(undefined);
      else changes.push(...readChange(data));
    },
  });
  try {
    const response = await sendAuthorised(api, path, { headers, signal });
    const isBusy = response.status >= 500 || response.status === 429;
    if (!response.ok || !response.body) return isBusy ? "unreachable" : "refused";
    onLink(true);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return "cut";
      parser.feed(value);
      if (changes.length > 0) onChanges(changes);
      changes = [];
    }
  } catch {
    return "unreachable";
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
