import type { Mutant } from "./mutant.ts";

/** What people see of an approval, and what open pages cost. */
export const PAGE: readonly Mutant[] = [
  {
    name: "a call of GamePlan's page is another call after its approval",
    file: "src/widget/gameplan/actions.ts",
    from: "carry((key) => api.write(tool, args, key))",
    to: "carry(() => api.write(tool, args, crypto.randomUUID()))",
    test: {
      file: "test/widget/page-gameplan.node.test.ts",
      name: "shows the approval, and goes on as the same call after the decision",
    },
  },
  {
    name: "a section that is drawn takes the focus out of the chat",
    file: "src/widget/gameplan/page.ts",
    from: "if (isElsewhere || main",
    to: "if (main",
    test: {
      file: "test/widget/page-gameplan-safety.node.test.ts",
      name: "keeps the focus there",
    },
  },
  {
    name: "a page learns the ids of workspaces of others",
    file: "src/http/workspaces/workspace-list.ts",
    from: "ids.filter((id) => mayFollow(policy, id, follower))",
    to: "ids.filter((id) => follower && mayFollow && id)",
    test: {
      file: "test/http/workspace-changes.test.ts",
      name: "has those of which the caller is a member, and no others",
    },
  },
  {
    name: "a card of a tool draws any element",
    file: "src/widget/cards/draw-nodes.ts",
    from: "if (HTML.has(name)) return",
    to: "return",
    test: {
      file: "test/widget/page-cards.node.test.ts",
      name: "because it has a frame is reported, and the default card is shown",
    },
  },
  {
    name: "a card of a tool sets any attribute",
    file: "src/widget/cards/draw-nodes.ts",
    from: "!ATTRIBUTES.has(key) && !ARIA.test(key)",
    to: "false",
    test: {
      file: "test/widget/page-cards.node.test.ts",
      name: "because it has a handler is reported, and the default card is shown",
    },
  },
  {
    name: "a card of a tool links anywhere",
    file: "src/widget/cards/draw-nodes.ts",
    from: "new URL(text, location.href).origin !== location.origin",
    to: "false",
    test: {
      file: "test/widget/page-cards.node.test.ts",
      name: "because it links to a script is reported, and the default card is shown",
    },
  },
  {
    name: "a card of a tool that throws hides the call",
    file: "src/widget/cards/draw-part.ts",
    from: "reportError(error);\n    return undefined;",
    to: "throw error;",
    test: {
      file: "test/widget/page-cards.node.test.ts",
      name: "because it throws is reported, and the default card is shown",
    },
  },
  {
    name: "a tool whose calls need approval registers without a description",
    file: "src/contracts/check/consistency.ts",
    from: "if (!contract.describe) {",
    to: "if (false) {",
    test: {
      file: "test/contracts/check/consistency.test.ts",
      name: "a critical mutation that nothing describes",
    },
  },
  {
    name: "a tool whose calls need approval registers with every argument withheld",
    file: "src/contracts/check/consistency.ts",
    from: "const isShown = contract.redaction.args.length > 0 ||",
    to: "const isShown = true ||",
    test: {
      file: "test/contracts/check/consistency.test.ts",
      name: "a critical mutation of which approvers see no argument",
    },
  },
  {
    name: "a packet leaves out what is withheld when nothing is shown",
    file: "src/protocol/approval/packet-lines.ts",
    from: "return linesOfRows(shown, withheld.map(toWithheldRow));",
    to: "return [];",
    test: {
      file: "test/protocol/approval/packet-lines.node.test.ts",
      name: "a call whose every argument is withheld names each of them as withheld",
    },
  },
  {
    name: "two fields share a label",
    file: "src/protocol/approval/label-fields.ts",
    from: "groups.get(label)?.length === 1 ? label :",
    to: "true ? label :",
    test: {
      file: "test/protocol/approval/packet-lines.node.test.ts",
      name: "which no other field has, withheld ones included",
    },
  },
  {
    name: "an edit that the policy refuses is answered as one that the tool refuses",
    file: "src/run/approvals/refused-decision.ts",
    from: "const isByPolicy = BY_POLICY.has(taxonomyClass);",
    to: "const isByPolicy = false;",
    test: {
      file: "test/http/approval-edits.test.ts",
      name: "an edit with what a rule of the policy forbids is refused to the editor and ends nothing",
    },
  },
  {
    name: "the sentence about a call scrolls away from its buttons",
    file: "src/widget/approval/form.css",
    from: "position: sticky;",
    to: "position: relative;",
    test: {
      file: "test/widget/page-sentence.node.test.ts",
      name: "in the chat, between other calls",
    },
  },
  {
    name: "a long sentence about a call pushes itself out of sight",
    file: "src/widget/approval/form.css",
    from: "max-height: min(40vh, 10rem);",
    to: "",
    test: {
      file: "test/widget/page-sentence.node.test.ts",
      name: "on the approvals page",
    },
  },
  {
    name: "an open card does not learn of other votes",
    file: "src/widget/approval/tracker.ts",
    from: "this.#ticks % READ_EVERY_TICKS === 0 && this.#ports.needsReads()",
    to: "false",
    test: {
      file: "test/widget/page-open-approval.node.test.ts",
      name: "shows the votes of other people, with one request in five seconds while it is seen",
    },
  },
  {
    name: "a card is read while nobody sees the page",
    file: "src/widget/approval/card.ts",
    from: 'return document.visibilityState === "visible" && element.checkVisibility();',
    to: "return true;",
    test: {
      file: "test/widget/page-open-approval.node.test.ts",
      name: "shows the votes of other people, with one request in five seconds while it is seen",
    },
  },
  {
    name: "a changed state looks like edited arguments",
    file: "src/widget/approval/tracker.ts",
    from: 'CHANGED[supersededBecause ?? ""] ?? EDITED',
    to: "EDITED",
    test: {
      file: "test/widget/page-open-approval.node.test.ts",
      name: "whose state changes says so, shows what changed, and leads to the new approval",
    },
  },
  {
    name: "a reader that returns to a waiting run keeps the object awake",
    file: "durable-objects/run/event-feed.ts",
    from: "if (!this.#ended && !this.#isWaiting) return;",
    to: "if (!this.#ended) return;",
    test: {
      file: "test/http/what-people-see.test.ts",
      name: "readers that return to a waiting run, however many, hold nothing and lock nobody out",
    },
  },
  {
    name: "readers stay when a run begins to wait",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "this.#run.feed.rest();",
    to: "",
    test: {
      file: "test/http/what-people-see.test.ts",
      name: "a stream ends with a time to return when approval is needed, and continues once the run does",
    },
  },
  {
    name: "a run that continues still sends its readers away",
    file: "durable-objects/run/run-lifecycle.ts",
    from: "this.#run.feed.resume();",
    to: "",
    test: {
      file: "test/http/what-people-see.test.ts",
      name: "a stream ends with a time to return when approval is needed, and continues once the run does",
    },
  },
  {
    name: "the page returns to a waiting run before the time that the server said",
    file: "src/widget/chat/follow-run.ts",
    from: "await task.pause(end.returnAfterMs);",
    to: "",
    test: {
      file: "test/widget/chat/follow-run.test.ts",
      name: "returns to a run that waits for people when the server said, however often",
    },
  },
  {
    name: "a hidden page returns to a waiting run",
    file: "src/widget/chat/return-pause.ts",
    from: "await untilSeen(signal);",
    to: "",
    test: {
      file: "test/widget/chat/return-pause.test.ts",
      name: "lasts as long as the server said, and then until the reader sees the page",
    },
  },
  {
    name: "the chat learns of the reader's own decision late",
    file: "src/widget/chat/return-pause.ts",
    from: "current.abort();",
    to: "",
    test: {
      file: "test/widget/chat/return-pause.test.ts",
      name: "ends at once when the reader decided something, and the next pause is whole again",
    },
  },
  {
    name: "the assistants of an element share one conversation",
    file: "src/widget/element-session.ts",
    from: "assistantId === null ? name : `${name}:${assistantId}`",
    to: "name",
    test: {
      file: "test/widget/page-assistant.node.test.ts",
      name: "keeps the conversations of two assistants apart, with one token",
    },
  },
  {
    name: "the page does not say that another model goes on",
    file: "src/widget/chat/apply-data.ts",
    from: "return changeModel(state, item);",
    to: "return state;",
    test: {
      file: "test/widget/page-answer.node.test.ts",
      name: "says in a quiet line that another model goes on, and names it",
    },
  },
  {
    name: "the workspace of a call is folded away with the details",
    file: "src/widget/approval/packet-view.ts",
    from: '  workspaceId: "",\n',
    to: "",
    test: {
      file: "test/widget/approvals-page.node.test.ts",
      name: "shows in sight in which workspace a call acts",
    },
  },
  {
    name: "a text becomes markup wherever the page shows one",
    file: "src/widget/dom.ts",
    from: "  element.append(...children);\n  return element;",
    to: '  for (const child of children) {\n    if (typeof child === "string") element.insertAdjacentHTML("beforeend", child);\n    else element.append(child);\n  }\n  return element;',
    test: {
      file: "test/widget/page-safety.node.test.ts",
      name: "stays text everywhere on the page",
    },
  },
  {
    name: "a paragraph of an answer becomes markup",
    file: "src/widget/chat/text-view.ts",
    from: 'return el("p", {}, ...drawInline(block.text));',
    to: 'return Object.assign(el("p"), { innerHTML: block.text });',
    test: {
      file: "test/widget/page-safety.node.test.ts",
      name: "stays text everywhere on the page",
    },
  },
  {
    name: "the card of an approval shows the packet instead of its lines",
    file: "src/widget/approval/info.ts",
    from: 'lines: listOf(value["lines"], isLine) as unknown as readonly PacketLine[],',
    to: 'lines: Object.entries((value["packet"] ?? {}) as object).map(([field, part]) => ({\n      field,\n      label: field,\n      text: JSON.stringify(part),\n      notes: [],\n    })) as unknown as readonly PacketLine[],',
    test: {
      file: "test/widget/page-hostile-approval.node.test.ts",
      name: "hostile text in every field of an approval stays text and hides nothing",
    },
  },
  {
    name: "a card of a tool may be no list of nodes",
    file: "src/widget/cards/draw-nodes.ts",
    from: 'if (!Array.isArray(nodes)) throw new TypeError("A card returns a list of nodes.");',
    to: "if (!Array.isArray(nodes)) return [];",
    test: {
      file: "test/widget/page-cards.node.test.ts",
      name: "because it is HTML is reported, and the default card is shown",
    },
  },
  {
    name: "a card of a tool holds what is no node",
    file: "src/widget/cards/draw-nodes.ts",
    from: 'if (!Array.isArray(node)) throw new TypeError("A node is a text or a list.");',
    to: "if (!Array.isArray(node)) return document.createTextNode(String(node));",
    test: {
      file: "test/widget/page-cards.node.test.ts",
      name: "because it holds what is no node is reported, and the default card is shown",
    },
  },
  {
    name: "a card of a tool has any number of nodes",
    file: "src/widget/cards/draw-nodes.ts",
    from: "if (budget.left-- <= 0) throw",
    to: "if (budget.left < 0) throw",
    test: {
      file: "test/widget/page-cards.node.test.ts",
      name: "because it has too many nodes is reported, and the default card is shown",
    },
  },
  {
    name: "a text of a card becomes markup",
    file: "src/widget/cards/draw-nodes.ts",
    from: 'if (typeof node === "string") return document.createTextNode(node);',
    to: 'if (typeof node === "string") return document.createRange().createContextualFragment(node);',
    test: {
      file: "test/widget/page-gameplan-safety.node.test.ts",
      name: "stays text in the cards of the chat",
    },
  },
];
