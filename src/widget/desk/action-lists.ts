import { say } from "../texts/say.ts";
import type { ActionList } from "./action-section.ts";
import { describeSame } from "../approval/lasting-choice.ts";
import type { LinkedConsent, QueueApi, UndeliveredNotification } from "../approval/queue-api.ts";
import { formatAttempts, formatTime } from "../texts/format-time.ts";

/** The consents that last of the reader. */
export function consentsOf(api: QueueApi): ActionList<LinkedConsent> {
  return {
    title: say("What you consented to"),
    read: () => api.consents(),
    describe: ({ toolId, toolVersion, used, calls, until, conversationId, ...bound }) => ({
      name: say("{tool}, version {version}", { tool: toolId, version: toolVersion }),
      facts: [
        describeSame(bound, []),
        [
          conversationId === undefined
            ? say("in all your conversations")
            : say("in one conversation"),
          say("{used} of {calls} calls used", { used, calls }),
        ].join(" · "),
        say("until {when}", { when: formatTime(until) }),
      ],
    }),
    label: say("Take back"),
    done: say("Taken back. The next call asks again."),
    act: ({ id }) => api.revoke(id),
  };
}

/** What the receiver of the tenant's notifications does not have. */
export function undeliveredOf(api: QueueApi): ActionList<UndeliveredNotification> {
  return {
    title: say("Notifications that did not arrive"),
    read: () => api.undelivered(),
    describe: ({ type, runId, attempts, failure, queuedAt, nextAttemptAt }) => ({
      name: say("{what}, since {when}", { what: type, when: formatTime(queuedAt) }),
      facts: [
        say("{attempts}, the last one: {failure}", {
          attempts: formatAttempts(attempts),
          failure: failure ?? "",
        }),
        nextAttemptAt === undefined
          ? say("Nobody tries again by itself.")
          : say("The next attempt is at {when}.", { when: formatTime(nextAttemptAt) }),
        runId,
      ],
    }),
    label: say("Send again"),
    done: say("It is sent again. It leaves this list once the receiver has it."),
    act: ({ id }) => api.sendAgain(id),
  };
}
