import type { RunTrace } from "../../protocol/run/trace.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import { say } from "../texts/say.ts";
import { el } from "../dom.ts";
import { type Bar, barsOf, scaleOf, waitedMs } from "./bars.ts";
import { formatDuration } from "./labels.ts";

const SVG = "http://www.w3.org/2000/svg";
const WIDTH = 1_000;
/** What is shorter would not be seen. Unit: a thousandth of the width. */
const LEAST = 4;

/** Draws what a run did when. The picture is hidden from readers of the text beside it. */
export function drawTimeline(trace: RunTrace, nowMs: number): HTMLElement {
  const bars = barsOf(trace, nowMs);
  const place = scaleOf(bars);
  const lines = bars.map((bar) => drawLine(bar, place));
  const legend = ["model", "tool", "people"].map((kind) =>
    el("span", { class: "key", "data-kind": kind }, say(KEYS[kind as keyof typeof KEYS])),
  );
  return el(
    "section",
    { class: "timeline", "aria-label": say("Timeline") },
    el("h3", {}, say("Timeline")),
    el("p", { class: "legend", "aria-hidden": "true" }, ...legend),
    el("ol", {}, ...lines),
    el("p", { class: "note" }, say("Long times are drawn shorter than they were.")),
  );
}

const KEYS = { model: "a model answers", tool: "a tool runs", people: "people are asked" } as const;

function drawLine(bar: Bar, place: (atMs: number) => number): HTMLElement {
  const { name, call, spans } = bar;
  const label = toVisible(name).text;
  const title = call
    ? el("a", { href: `#${call.invocationId}`, "data-call": call.invocationId }, label)
    : el("span", {}, label);
  const [{ fromMs, toMs } = { fromMs: 0, toMs: 0 }] = spans;
  const waited = waitedMs(bar);
  const people =
    waited > 0 ? say(", {time} of it for people", { time: formatDuration(waited) }) : "";
  const time = formatDuration(toMs - fromMs);
  const took = `${call ? time : say("at most {time}", { time })}${people}`;
  const attributes = { "data-kind": call ? "call" : "step" };
  return el("li", attributes, title, drawSpans(bar, place), el("span", { class: "took" }, took));
}

function drawSpans({ spans }: Bar, place: (atMs: number) => number): SVGElement {
  const svg = document.createElementNS(SVG, "svg");
  const attributes = { class: "bar", viewBox: `0 0 ${WIDTH} 10`, "aria-hidden": "true" };
  for (const [name, value] of Object.entries({ ...attributes, preserveAspectRatio: "none" })) {
    svg.setAttribute(name, value);
  }
  for (const { kind, fromMs, toMs } of spans) {
    const from = Math.min(place(fromMs) * WIDTH, WIDTH - LEAST);
    const box = document.createElementNS(SVG, "rect");
    const width = Math.max(LEAST, place(toMs) * WIDTH - from);
    const size = { x: from, y: 0, width, height: 10 };
    for (const [name, value] of Object.entries(size)) box.setAttribute(name, value.toFixed(1));
    box.setAttribute("class", kind);
    svg.append(box);
  }
  return svg;
}
