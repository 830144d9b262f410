import type { ActionList } from "./action-section.ts";
import { describeSame } from "../approval/lasting-choice.ts";
import type { LinkedConsent, QueueApi, UndeliveredNotification } from "../approval/queue-api.ts";
import { formatTime } from "./format-time.ts";

/** The consents that last of the reader. */
export function consentsOf(api: QueueApi): ActionList<LinkedConsent> {
  return {
    title: "What you consented to",
    read: () => api.consents(),
    describe: ({ toolId, toolVersion, used, calls, until, conversationId, ...bound }) => ({
      name: `${toolId}, version ${toolVersion}`,
      facts: [
        describeSame(bound, []),
        `${conversationId !== undefined ? "in one conversation" : "in all your conversations"} · ` +
          `${used} of ${calls} calls used`,
        `until ${formatTime(until)}`,
      ],
    }),
    label: "Take back",
    done: "Taken back. The next call asks again.",
    act: ({ id }) => api.revoke(id),
  };
}

/** What the receiver of the tenant's notifications does not have. */
export function undeliveredOf(api: QueueApi): ActionList<UndeliveredNotification> {
  return {
    title: "Notifications that did not arrive",
    read: () => api.undelivered(),
    describe: ({ type, runId, attempts, failure, queuedAt, nextAttemptAt }) => ({
      name: `${type}, since ${formatTime(queuedAt)}`,
      facts: [
        `${attempts === 1 ? "1 attempt" : `${attempts} attempts`}, the last one: ${failure}`,
        nextAttemptAt === undefined
          ? "Nobody tries again by itself."
          : `The next attempt is at ${formatTime(nextAttemptAt)}.`,
        runId,
      ],
    }),
    label: "Send again",
    done: "It is sent again. It leaves this list once the receiver has it.",
    act: ({ id }) => api.sendAgain(id),
  };
}
