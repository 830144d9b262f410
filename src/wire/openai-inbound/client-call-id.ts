import type { RunId } from "../../protocol/identity/ids.ts";

/** A call that a run returned to its client: the run, and its part of it. */
export interface ClientCall {
  readonly runId: string;
  readonly part: number;
}

/** Names a call that a run returned. The client sends the id back with the result. */
export function formatClientCallId(runId: RunId, part: number): string {
  return `${runId}.${part}`;
}

const FORM = /^([^.]{1,128})\.(0|[1-9]\d{0,8})$/;

/** Reads the id of a returned call; undefined for anything else. Nothing of it is verified. */
export function parseClientCallId(id: unknown): ClientCall | undefined {
  const [, runId, part] = FORM.exec(typeof id === "string" ? id : "") ?? [];
  return runId === undefined ? undefined : { runId, part: Number(part) };
}
