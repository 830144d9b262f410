import type { RunId } from "../../protocol/identity/ids.ts";

/** The part of a run that one response shows. Both are sequence numbers of events. */
export interface Leg {
  /** The response begins after this event. */
  readonly after: number;
  /** The last decision that began it. Until then the run still waited for the others. */
  readonly until: number;
}

/** The response to what began the run. */
export const FIRST_LEG: Leg = { after: 0, until: 0 };

/** Names a response: by its run, and where people decided in between also by its part of it. */
export function formatResponseId(runId: RunId, { after, until }: Leg): string {
  return after === 0 ? runId : `${runId}.${after}.${until}`;
}

const FORM = /^([^.]{1,128})(?:\.([1-9]\d{0,14})\.([1-9]\d{0,14}))?$/;

/** Reads the id of a response; undefined for any other text. Nothing of it is verified. */
export function parseResponseId(text: string): (Leg & { readonly runId: string }) | undefined {
  const [, runId, after = 0, until = 0] = FORM.exec(text) ?? [];
  return runId === undefined ? undefined : { runId, after: Number(after), until: Number(until) };
}
