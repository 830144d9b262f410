import type { SteeringInbox, RunJournal } from "../capabilities/run-journal.ts";
import type { Usage } from "../protocol/model/usage.ts";
import type { RunEnd } from "./run-end.ts";

/** Says the last word of a run; what people told it that nobody answered stays in its conversation. */
export function endRun(
  { journal, inbox }: { readonly journal: RunJournal; readonly inbox: SteeringInbox },
  end: RunEnd,
  usage: Usage,
): void {
  inbox.close();
  for (const text of inbox.takeAll()) journal.remember({ role: "user", text });
  journal.append([{ type: "done", ...end, usage }]);
}
