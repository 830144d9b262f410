import { ApprovalCard } from "../../../src/widget/approval/card.ts";
import type { QueueApi } from "../../../src/widget/approval/queue-api.ts";
import type { ApprovalInfo } from "../../../src/widget/approval/info.ts";
import { toHex } from "../../../src/protocol/text/hex.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { fail, type Result } from "../../../src/protocol/outcome/result.ts";
import type { CallFailure, GameplanApi, WriteEnd } from "./api.ts";
import { objectOf, textOf } from "./read-json.ts";
import { SENT_AGAIN, untilOnline } from "./until-online.ts";

export interface ActionPorts {
  readonly api: GameplanApi;
  readonly approvals: QueueApi;
  /** Ends every wait, when the page is gone. */
  readonly signal: AbortSignal;
  /** Where an approval is shown that a call waits for. */
  readonly place: HTMLElement;
  /** Shows why a call did not succeed; undefined removes that. */
  readonly onFailure: (failure: CallFailure | undefined) => void;
  readonly onDone: () => void;
  /** A deletion was taken back, or not. */
  readonly onUndone: () => void;
}

const NOT_FOUND = {
  code: "approval_needed",
  message: "People have to agree to this. The page Approvals shows the question.",
  needsToken: false,
};

const NOT_UNDOABLE = {
  code: "not_undoable",
  message: "This cannot be undone any more: it was undone, or something changed since.",
  needsToken: false,
};

/** Sends a call under the key of the reader's click. */
type Send = (key: string) => Promise<Result<WriteEnd, CallFailure>>;

/**
 * Creates the functions that call a tool that writes, and that take a deletion back. A call that
 * people have to agree to shows its approval, and goes on after the decision.
 * Contract: they never throw, and answer undefined when the call did not succeed.
 */
export function createActions(ports: ActionPorts) {
  const { api, signal, onFailure, onDone, onUndone } = ports;
  const carry = async (send: Send): Promise<JsonObject | undefined> => {
    onFailure(undefined);
    // One key for the click: what is sent again, also after an approval, is the same call.
    const key = toHex(crypto.getRandomValues(new Uint8Array(16)));
    for (let attempt = 1; ; attempt += 1) {
      const end = await send(key);
      if (signal.aborted) return undefined;
      if (!end.ok && end.failure.code === "unreachable") {
        onFailure({ ...end.failure, message: SENT_AGAIN });
        await untilOnline(attempt, signal);
        continue;
      }
      if (!end.ok) {
        onFailure(end.failure);
        return undefined;
      }
      if (attempt > 1) onFailure(undefined);
      if (end.value.kind === "done") {
        onDone();
        return end.value.data;
      }
      const isDecided = await untilDecided(end.value.runId, ports);
      if (!isDecided) {
        onFailure(NOT_FOUND);
        return undefined;
      }
    }
  };
  const act = (tool: string, args: JsonObject) => carry((key) => api.write(tool, args, key));
  return {
    act,
    /** `entry` is one of the activity. Undoes its call, or else restores what it deleted. */
    async takeBack(entry: JsonObject): Promise<void> {
      const [entity, id] = [textOf(entry, "entity"), textOf(entry, "entityId")];
      const call = objectOf(entry, "call");
      const [runId, toolCallId] = [textOf(call, "runId"), textOf(call, "toolCallId")];
      await carry(async (key) => {
        const undone = runId === "" ? undefined : await api.undo(runId, toolCallId);
        if (undone || textOf(entry, "action") !== "deleted") return undone ?? fail(NOT_UNDOABLE);
        return api.write("restore", { entity, id }, key);
      });
      onUndone();
    },
  };
}

/** Shows the approval of a run. Answers false when the reader cannot see it. */
async function untilDecided(runId: string, { approvals, place }: ActionPorts): Promise<boolean> {
  const listed = await approvals.list({ status: "pending", limit: 50, mine: true });
  const asked = listed.ok && listed.value.items.find((approval) => approval.runId === runId);
  if (!asked) return false;
  place.hidden = false;
  await new Promise<void>((resolve) => {
    const onChange = ({ status }: ApprovalInfo): void => {
      if (status !== "pending") resolve();
    };
    const card = new ApprovalCard({ api: approvals, isStreamed: false, onChange }, asked);
    place.replaceChildren(card.root);
    card.root.scrollIntoView({ block: "nearest" });
  });
  place.replaceChildren();
  place.hidden = true;
  return true;
}
