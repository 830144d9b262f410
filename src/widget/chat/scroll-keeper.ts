import { say } from "../texts/say.ts";
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

/**
 * Keeps a scroller at its end while the reader is there. A reader who scrolled up is not moved.
 * `content` is all that the scroller holds. The button and the keys Home and End jump: `onJump` is
 * called before the browser shows the place, so that what stands there can be drawn first.
 */
export function keepAtEnd(
  scroller: HTMLElement,
  content: HTMLElement,
  onJump: () => void,
): ScrollKeeper {
  const button = el("button", { type: "button", class: "jump", hidden: "" });
  button.append(icon("M10 4v12m-5-5l5 5 5-5"), say("Jump to latest"));
  let isAtEnd = true;
  let lastTop = 0;
  const follow = () => {
    if (isAtEnd) scroller.scrollTop = scroller.scrollHeight;
    button.hidden = isAtEnd || distance(scroller) < NEAR_END_PX;
  };
  const jump = () => {
    isAtEnd = true;
    follow();
    onJump();
  };
  const jumpToStart = () => {
    scroller.scrollTop = 0;
    isAtEnd = distance(scroller) < NEAR_END_PX;
    button.hidden = isAtEnd;
    onJump();
  };
  scroller.addEventListener("keydown", (event) => {
    const { key, target, altKey, ctrlKey, metaKey, shiftKey } = event;
    const isJump = key === "Home" || key === "End";
    if (!isJump || target !== scroller || altKey || ctrlKey || metaKey || shiftKey) return;
    event.preventDefault();
    if (key === "End") jump();
    else jumpToStart();
  });
  scroller.addEventListener(
    "scroll",
    () => {
      const { scrollTop } = scroller;
      // The event comes later than its cause. If the content grew since, the end is far, but only a
      // reader moves up.
      if (distance(scroller) < NEAR_END_PX) isAtEnd = true;
      else if (scrollTop < lastTop) isAtEnd = false;
      lastTop = scrollTop;
      button.hidden = isAtEnd;
    },
    { passive: true },
  );
  // An on-screen keyboard or a rotated phone moves the end, and so does what a card adds later.
  const observer = new ResizeObserver(follow);
  observer.observe(scroller);
  observer.observe(content);
  button.addEventListener("click", () => {
    jump();
    scroller.focus({ preventScroll: true });
  });
  return { button, follow, jump };
}

function distance(scroller: HTMLElement): number {
  return scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight;
}
