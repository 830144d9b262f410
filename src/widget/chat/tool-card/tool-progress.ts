import { formatTime, say } from "../../texts/say.ts";
import { el, setText } from "../../dom.ts";
import type { ToolProgress } from "../answer/tool-outcome.ts";

/** Creates the progress of a running call: its stage and its text in words, and a bar. */
export function createProgress(toolName: string) {
  const text = el("span");
  const bar = el("progress", {
    "aria-label": say("Progress of {tool}", { tool: toolName }),
    max: "1",
  });
  const root = el("div", { class: "progress", hidden: "" }, text, bar);
  return {
    root,
    update(progress: ToolProgress | undefined) {
      root.hidden = progress === undefined;
      if (!progress) return;
      const { stage, text: words, share, attempt, retryAtMs } = progress;
      const begins =
        retryAtMs === undefined
          ? ""
          : say(" begins at {time}", { time: formatTime(retryAtMs, { timeStyle: "medium" }) });
      const retry =
        attempt === undefined ? undefined : `${say("attempt {attempt}", { attempt })}${begins}`;
      setText(text, [stage, words, retry].filter((part) => part !== undefined).join(" · "));
      if (share === undefined) bar.removeAttribute("value");
      else bar.value = share;
    },
  };
}
