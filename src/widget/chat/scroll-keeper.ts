import { el, icon } from "../dom.ts";

export interface ScrollKeeper {
  /** The button that leads back to the end. */
  readonly button: HTMLElement;
  /** To be called after the content changed. */
  follow(): void;
  jump(): void;
}

/** How far from the end a reader still counts as being there, in CSS pixels. */
const NEAR_END_PX = 48;

/** Keeps a scroller at its end while the reader is there, and leaves them alone when they are not. */
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
  // An on-screen keyboard or a turned phone changes the height, and so where the end is.
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
