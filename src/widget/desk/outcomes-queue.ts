import { say } from "../texts/say.ts";
import { ARM_AFTER_MS } from "../approval/form.ts";
import { drawList } from "../approval/packet-view.ts";
import { sayMismatch } from "../approval/packet-words.ts";
import type { ListedOutcome, QueueApi } from "../approval/queue-api.ts";
import { el } from "../dom.ts";
import { createEntryCard, createKeyButton } from "./entry-card.ts";
import { formatAttempts, formatTime } from "../texts/format-time.ts";
import { type Choice, choicesOf, explain, questionOf } from "./outcome-words.ts";
import type { Entry, OpenEntry, OpenPorts, QueueSpec } from "./queue-spec.ts";

const KINDS = ["unknown outcome", "undo failed", "unexpected state"] as const;

/** Calls whose outcome is unknown, or whose state is not the expected one. */
export function outcomesQueue(api: QueueApi): QueueSpec<ListedOutcome> {
  /** The list follows the run a little later than the report. */
  const reported = new Set<string>();
  return {
    name: "outcomes",
    title: say("Outcomes"),
    none: say("No call waits for a report."),
    shows: [["waiting", say("To look into")]],
    kinds: KINDS.map((kind) => [kind, say(kind)] as const),
    keys: [say("it happened"), say("it did not happen")],
    async read(query) {
      const { show: _show, kind: _kind, ...filters } = query;
      const page = await api.outcomes(filters);
      if (!page.ok) return page;
      const items = page.value.items.filter((call) => !reported.has(keyOf(call)));
      return { ok: true, value: { ...page.value, items } };
    },
    describe,
    open: (call, ports) =>
      openOutcome(api, call, {
        ...ports,
        onActed: () => {
          reported.add(keyOf(call));
          ports.onActed();
        },
      }),
  };
}

function describe(call: ListedOutcome): Entry {
  const { runId, invocationId, toolId, toolTitle = toolId, requestedBy, undo, mismatch } = call;
  const kind = KINDS[mismatch ? 2 : undo ? 1 : 0];
  const until = say("until {when}", { when: formatTime(call.awaitsOutcomeUntil) });
  return {
    id: `${runId}/${invocationId}`,
    name: toolTitle,
    facts: [say(kind), requestedBy, until],
    kinds: [kind],
    since: call.dispatchedAt ?? "",
  };
}

/** Undoing a call may fail again after a report. That is another case, with a later deadline. */
function keyOf({ runId, invocationId, awaitsOutcomeUntil }: ListedOutcome): string {
  return `${runId}/${invocationId}/${awaitsOutcomeUntil}`;
}

/** Threat: a report that was meant otherwise. So it takes two clicks, a second apart. */
function openOutcome(
  api: QueueApi,
  call: ListedOutcome,
  { onActed }: OpenPorts<ListedOutcome>,
): OpenEntry<ListedOutcome> {
  const { toolId, toolTitle = toolId, attempts, requestedBy, owner, lines, mismatch } = call;
  const card = createEntryCard({
    title: toolTitle,
    facts: [
      ...(toolTitle === toolId ? [] : [toolId]),
      say("for {name}", { name: requestedBy }),
      formatAttempts(attempts),
      say("owner {name}", { name: owner }),
    ],
    body: [
      el("p", {}, explain(call)),
      drawList(lines),
      ...(mismatch ? [drawList(mismatch.lines.map(sayMismatch))] : []),
    ],
  });
  let isOver = false;
  const choose = (): void => {
    const buttons = choicesOf(call).map((choice, at) =>
      createKeyButton(say(choice.label), {
        key: at === 0 ? "a" : "r",
        onClick: () => confirm(choice),
      }),
    );
    card.ask(questionOf(call), ...buttons);
  };
  const confirm = (choice: Choice): void => {
    const key = choicesOf(call).indexOf(choice) === 0 ? "a" : "r";
    const onClick = (): void => void report(choice, sure);
    const sure = createKeyButton(say("Confirm"), { key, className: "primary", onClick });
    const back = createKeyButton(say("Back"), { onClick: choose });
    sure.disabled = true;
    setTimeout(() => (sure.disabled = false), ARM_AFTER_MS);
    card.ask(`${say(choice.question)} ${say("Nobody can change this report.")}`, sure, back);
    back.focus();
  };
  const report = async ({ outcome }: Choice, sure: HTMLButtonElement): Promise<void> => {
    sure.disabled = true;
    const answer = await api.resolve(call, outcome);
    isOver = answer.ok || answer.failure.code === "outcome_not_awaited";
    if (isOver) card.ask("");
    else choose();
    const goesOn = call.undo || mismatch ? say("Reported.") : say("Reported. The run continues.");
    card.tell(answer.ok ? goesOn : answer.failure.message);
    if (isOver) onActed();
  };
  choose();
  return {
    root: card.root,
    update(news) {
      if (news || isOver) return;
      isOver = true;
      card.ask("");
      card.note(say("Somebody else reported this call, or its time is over."));
    },
    // A report asks by itself.
    needsSecondPress: () => false,
  };
}
