import { el } from "../dom.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import type { RunsApi } from "./api.ts";
import type { CostLine, Costs } from "./read-costs.ts";

const SVG = "http://www.w3.org/2000/svg";
const DAY_MS = 86_400_000;
const [BAR_WIDTH, HEIGHT] = [8, 60];

/** Creates the part that shows what runs cost. It reads the days when it is first opened. */
export function createCosts({ costs }: Pick<RunsApi, "costs">): HTMLElement {
  const root = el("details", { class: "costs" }, el("summary", {}, "Costs"));
  root.addEventListener("toggle", () => void fill(), { once: true });
  const fill = async (): Promise<void> => {
    const read = await costs();
    if (!read.ok) root.append(el("p", { class: "notice", role: "alert" }, read.failure.message));
    else root.append(...drawCosts(read.value));
  };
  return root;
}

/** Draws a picture and tables for each currency. Who cannot see the picture reads the table. */
function drawCosts({ days, assistants, models, tools }: Costs): readonly Element[] {
  const currencies = new Set(days.map(({ currency }) => currency));
  if (currencies.size === 0) return [el("p", { class: "note" }, "These days cost nothing.")];
  return [...currencies].flatMap((currency) => {
    const inIt = (lines: Rows): Rows => lines.filter((line) => line.currency === currency);
    const tables = [
      drawTable("Day", currency, inIt(days)),
      drawTable("Assistant", currency, inIt(assistants)),
      drawTable("Model", currency, inIt(models)),
      drawTable("Tool", currency, inIt(tools)),
    ];
    return [drawBars(inIt(days)), tables.flat()].flat();
  });
}

type Rows = readonly CostLine[];

/** Days without a cost leave a gap. */
function drawBars(rows: Rows): SVGElement {
  const firstMs = Math.min(...rows.map(({ name }) => Date.parse(name)));
  const most = Math.max(...rows.map(({ amount }) => amount), Number.MIN_VALUE);
  const places = rows.map(({ name }) => Math.round((Date.parse(name) - firstMs) / DAY_MS));
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", `0 0 ${(Math.max(...places) + 1) * BAR_WIDTH} ${HEIGHT}`);
  svg.setAttribute("aria-hidden", "true");
  rows.forEach(({ amount }, at) => {
    const bar = document.createElementNS(SVG, "rect");
    const height = (amount / most) * HEIGHT;
    const box = {
      x: (places[at] ?? 0) * BAR_WIDTH,
      y: HEIGHT - height,
      width: BAR_WIDTH - 1,
      height,
    };
    for (const [name, value] of Object.entries(box)) bar.setAttribute(name, String(value));
    svg.append(bar);
  });
  return svg;
}

function drawTable(what: string, currency: string, rows: Rows): readonly HTMLElement[] {
  if (rows.length === 0) return [];
  const head = el("tr", {}, ...[what, "Cost"].map((text) => el("th", { scope: "col" }, text)));
  const lines = rows.map(({ name, amount }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, toVisible(name).text),
      el("td", {}, `${amount} ${currency}`),
    ),
  );
  const caption = el("caption", {}, `Cost per ${what.toLowerCase()} in ${currency}`);
  return [el("table", {}, caption, head, ...lines)];
}
