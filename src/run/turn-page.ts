import type { PageAnswer } from "../capabilities/conversation.ts";
import { keptFilesOf } from "../protocol/conversation/kept-files.ts";
import type { TranscriptMessage } from "../protocol/conversation/message.ts";
import { replaceHalvesInJson } from "../protocol/text/whole-characters.ts";
import { shownRunOf } from "./shown-run.ts";
import type { StoredRun } from "./stored-run.ts";

/** Reads what an ended run adds to its conversation. A direct call adds nothing: `unknown`. */
export function pageOf(
  run: Pick<StoredRun, "store" | "journal" | "transcript" | "files" | "inbox">,
): PageAnswer {
  const { store, journal, transcript, files, inbox } = run;
  const claimed = store.claimed();
  if (!claimed) return { kind: "gone" };
  if (claimed.call) return { kind: "unknown" };
  if (!journal.hasEnded) return { kind: "running" };
  // A half character of a model is none of the person's next request.
  const text = replaceHalvesInJson(JSON.stringify(transcript.all()));
  const messages = JSON.parse(text) as readonly TranscriptMessage[];
  const kept = [...keptFilesOf(messages).keys()].flatMap((hash) => {
    const content = files.read(hash);
    return content === undefined ? [] : [[hash, content] as const];
  });
  const { endedMs } = store.progress();
  const shown = shownRunOf(run);
  const saidKeys = inbox.keys();
  const page = {
    messages,
    shown,
    endedMs: endedMs ?? store.identity().createdMs,
    ...(saidKeys.length > 0 && { saidKeys }),
  };
  return { kind: "page", delivered: { page, files: Object.fromEntries(kept) } };
}
