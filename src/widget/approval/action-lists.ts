import type { ActionList } from "./action-section.ts";
import type { QueueApi } from "./queue-api.ts";
import type { ConsentInfo } from "./consent-info.ts";
import { describeSame } from "./lasting-choice.ts";
import type { NotificationInfo } from "./notification-info.ts";

const TIME = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/** The consents that last of the reader. */
export function consentsOf(api: QueueApi): ActionList<ConsentInfo> {
  return {
    title: "What you consented to",
    read: () => api.consents(),
    describe: ({ toolId, toolVersion, used, calls, untilMs, isForConversation, ...bound }) => ({
      name: `${toolId}, version ${toolVersion}`,
      facts: [
        describeSame(bound, []),
        `${isForConversation ? "in one conversation" : "in all your conversations"} · ` +
          `${used} of ${calls} calls used`,
        `until ${TIME.format(untilMs)}`,
      ],
    }),
    label: "Take back",
    done: "Taken back. The next call asks again.",
    act: ({ id }) => api.revoke(id),
  };
}

/** What the receiver of the tenant's notifications does not have. */
export function undeliveredOf(api: QueueApi): ActionList<NotificationInfo> {
  return {
    title: "Notifications that did not arrive",
    read: () => api.undelivered(),
    describe: ({ type, runId, attempts, failure, queuedMs, nextMs }) => ({
      name: `${type}, since ${TIME.format(queuedMs)}`,
      facts: [
        `${attempts === 1 ? "1 attempt" : `${attempts} attempts`}, the last one: ${failure}`,
        nextMs === undefined
          ? "Nobody tries again by itself."
          : `The next attempt is at ${TIME.format(nextMs)}.`,
        runId,
      ],
    }),
    label: "Send again",
    done: "It is sent again. It leaves this list once the receiver has it.",
    act: ({ id }) => api.sendAgain(id),
  };
}
