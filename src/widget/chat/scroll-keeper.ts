import { el, icon } from "../dom.ts";

export interface ScrollKeeper {
  /** The button that scrolls back to the end. */
  readonly button: HTMLElement;
  /** Call this after the content changed. */
  follow(): void;
  jump(): void;
}

/** A reader this close to the end still counts as being at the end, in CSS pixels. */
const NEAR_END_PX = 48;

/** Keeps a scroller at its end while the reader is there. A reader who scrolled up is not moved. */
export function keepAtEnd(scroller: HTMLElement): ScrollKeeper {
  const button = el("button", { type: "button", class: "jump", hidden: "" });
  button.append(icon("M10 4v12m-5-5l5 5 5-5"), "Jump to latest");
  let isAtEnd = true;
  const follow = () => {
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    button.hidden = isAtEnd || distance(scroller) < NEAR_END_PX;
  };
  const jump = () => {
    isAtEnd = true;
    follow();
  };
  scroller.addEventListener(
    "scroll",
    () => {
      isAtEnd = distance(scroller) < NEAR_END_PX;
      button.hidden = isAtEnd;
    },
    { passive: true },
  );
  // An on-screen keyboard or a rotated phone changes the height, and so moves the end.
  new ResizeObserver(follow).observe(scroller);
  button.addEventListener("click", () => {
    jump();
    scroller.focus({ preventScroll: true });
  });
  return { button, follow, jump };
}

function distance(scroller: HTMLElement): number {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
}
