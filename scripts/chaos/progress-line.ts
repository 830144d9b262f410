import type { WriteStream } from "node:tty";

/** Shows the progress of a part. */
export interface ProgressLine {
  show(text: string): void;
  /** Prints a line that is not overwritten. */
  keep(text: string): void;
}

const PLAIN_EVERY_MS = 15_000;
const REDRAW_EVERY_MS = 100;

/** Redraws one line on a terminal. Elsewhere, prints a plain line every 15 seconds. */
export function createProgressLine(out: WriteStream): ProgressLine {
  const everyMs = out.isTTY ? REDRAW_EVERY_MS : PLAIN_EVERY_MS;
  let shownMs = 0;
  const clear = out.isTTY ? "\r\u001b[2K" : "";
  return {
    show(text) {
      if (Date.now() - shownMs < everyMs) return;
      shownMs = Date.now();
      out.write(out.isTTY ? `${clear}${text.slice(0, out.columns - 1)}` : `${text}\n`);
    },
    keep(text) {
      out.write(`${clear}${text}\n`);
      shownMs = out.isTTY ? 0 : Date.now();
    },
  };
}
