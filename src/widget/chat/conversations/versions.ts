import { say } from "../../texts/say.ts";
import type { OpenChat } from "./chat-tools.ts";
import { el, setText } from "../../dom.ts";
import { createIconButton } from "./icon-button.ts";
import type { Exchange } from "../exchange/exchange.ts";

/** The button that gets the focus once another version is drawn. */
const wanted = new WeakMap<OpenChat, { readonly key: number; readonly step: number }>();

/** Creates the buttons with which the reader leafs through the versions of a turn. */
export function createVersions(conversation: OpenChat) {
  const place = el("span", { class: "version" });
  const back = createStep(say("Earlier version"), "M12 5l-5 5 5 5", -1);
  const on = createStep(say("Later version"), "M8 5l5 5-5 5", 1);
  const root = el("div", { class: "versions", role: "group", "aria-label": say("Versions") });
  root.append(back, place, on);
  let shown: Exchange | undefined;

  function createStep(name: string, path: string, step: number): HTMLButtonElement {
    const button = createIconButton("turn-tool", name, path);
    button.addEventListener("click", () => {
      const next = shown && versionsOf(shown).at(positionOf(shown) + step);
      if (!next) return;
      wanted.set(conversation, { key: next.key, step });
      conversation.show(next.key);
    });
    return button;
  }

  /** The turns with the same one before them, as far as the page has loaded all of them. */
  function versionsOf(exchange: Exchange): readonly Exchange[] {
    const { list } = conversation;
    const isRoot = exchange.after === undefined;
    const isWhole = exchange.parentId === undefined && !(isRoot && list.earlier !== undefined);
    return isWhole ? list.siblings(exchange) : [exchange];
  }

  function positionOf(exchange: Exchange): number {
    return versionsOf(exchange).findIndex(({ key }) => key === exchange.key);
  }

  return {
    root,
    update(exchange: Exchange) {
      shown = exchange;
      const { length } = versionsOf(exchange);
      const at = positionOf(exchange);
      root.hidden = length < 2;
      setText(place, say("{at} of {count}", { at: at + 1, count: length }));
      back.disabled = at === 0;
      on.disabled = at === length - 1;
      const focus = wanted.get(conversation);
      if (focus?.key !== exchange.key) return;
      wanted.delete(conversation);
      const [one, other] = focus.step < 0 ? [back, on] : [on, back];
      (one.disabled ? other : one).focus({ preventScroll: true });
    },
  };
}
