import { say } from "../../texts/say.ts";
import type { OpenChat } from "./chat-tools.ts";
import type { Feedback } from "../../../protocol/conversation/feedback.ts";
import { el, setText } from "../../dom.ts";
import type { Exchange } from "../exchange/exchange.ts";
import { createIconButton } from "./icon-button.ts";
import type { ChatsApi } from "./chats-api.ts";

const THUMB =
  "M6.5 9v7M6.5 9l3-5.5c1.4 0 2 1 1.7 2.3L10.7 8H15a1.4 1.4 0 0 1 1.4 1.7l-1 5" +
  "A1.6 1.6 0 0 1 13.8 16H3.5V9h3";

/** Creates the thumbs below an answer, and the form of a comment. */
export function createFeedback({
  chats,
  conversation,
}: {
  readonly chats: ChatsApi;
  readonly conversation: OpenChat;
}) {
  const [up, down] = [
    createThumb(say("Good answer"), "up"),
    createThumb(say("Bad answer"), "down"),
  ];
  const buttons = el("span", { class: "thumbs" }, up, down);
  const comment = el("textarea", {
    "aria-label": say("Comment on this answer"),
    placeholder: say("Why? (optional)"),
    maxlength: "2000",
    rows: "2",
  });
  const form = el("form", { class: "comment", hidden: "" }, comment);
  form.append(el("button", {}, say("Send comment")));
  const status = el("p", { class: "note", "aria-live": "polite" });
  const root = el("div", { class: "feedback" }, form, status);
  let shown: Exchange | undefined;
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = comment.value.trim();
    const rating = shown?.feedback?.rating;
    if (rating && text !== "") void give({ rating, comment: text });
  });

  function createThumb(name: string, rating: Feedback["rating"]): HTMLButtonElement {
    const button = createIconButton(`turn-tool ${rating}`, name, THUMB);
    button.addEventListener("click", () => {
      const isTakenBack = shown?.feedback?.rating === rating;
      void give(isTakenBack ? undefined : { rating });
    });
    return button;
  }

  async function give(feedback: Feedback | undefined): Promise<void> {
    const { list } = conversation;
    const { key, runId } = shown ?? {};
    if (key === undefined || runId === undefined || list.conversationId === undefined) return;
    const { rating, comment: words } = feedback ?? {};
    const body = rating
      ? { runId, rating, ...(words !== undefined && { comment: words }) }
      : { runId, rating: "none" as const };
    const given = await chats.rate(list.conversationId, body);
    setText(status, given.ok ? "" : given.failure.message);
    if (!given.ok) return;
    if (words !== undefined) setText(status, say("Thank you. Your comment was sent."));
    form.hidden = feedback === undefined || words !== undefined;
    if (feedback === undefined) comment.value = "";
    list.patch(key, { feedback });
  }

  return {
    buttons,
    root,
    update(exchange: Exchange, isOver: boolean) {
      shown = exchange;
      buttons.hidden = !isOver || exchange.answer.parts.length === 0;
      const { rating } = exchange.feedback ?? {};
      up.setAttribute("aria-pressed", String(rating === "up"));
      down.setAttribute("aria-pressed", String(rating === "down"));
    },
  };
}
