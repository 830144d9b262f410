import { el } from "../dom.ts";
import type { DayCost, RunsApi } from "./api.ts";

const SVG = "http://www.w3.org/2000/svg";
const DAY_MS = 86_400_000;
const [BAR_WIDTH, HEIGHT] = [8, 60];

/** Creates the part that shows what each day cost. It reads the days when it is first opened. */
export function createCosts({ costs }: Pick<RunsApi, "costs">): HTMLElement {
  const root = el("details", { class: "costs" }, el("summary", {}, "Cost per day"));
  root.addEventListener("toggle", () => void fill(), { once: true });
  const fill = async (): Promise<void> => {
    const read = await costs();
    if (!read.ok) root.append(el("p", { class: "notice", role: "alert" }, read.failure.message));
    else root.append(...drawCosts(read.value));
  };
  return root;
}

/** Draws a picture and a table for each currency. Who cannot see the picture reads the table. */
export function drawCosts(days: readonly DayCost[]): readonly Element[] {
  const currencies = new Set(days.flatMap(({ cost }) => cost.map(({ currency }) => currency)));
  if (currencies.size === 0) return [el("p", { class: "note" }, "These days cost nothing.")];
  return [...currencies].flatMap((currency) => {
    const rows = days.flatMap(({ day, cost }) =>
      cost.flatMap((one) => (one.currency === currency ? [{ day, amount: one.amount }] : [])),
    );
    return [drawBars(rows), drawTable(currency, rows)];
  });
}

type Rows = readonly { readonly day: string; readonly amount: number }[];

/** Days without a cost leave a gap. */
function drawBars(rows: Rows): SVGElement {
  const firstMs = Math.min(...rows.map(({ day }) => Date.parse(day)));
  const most = Math.max(...rows.map(({ amount }) => amount), Number.MIN_VALUE);
  const places = rows.map(({ day }) => Math.round((Date.parse(day) - firstMs) / DAY_MS));
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

function drawTable(currency: string, rows: Rows): HTMLElement {
  const head = el("tr", {}, ...["Day", "Cost"].map((text) => el("th", { scope: "col" }, text)));
  const lines = rows.map(({ day, amount }) =>
    el("tr", {}, el("th", { scope: "row" }, day), el("td", {}, `${amount} ${currency}`)),
  );
  return el("table", {}, el("caption", {}, `Cost per day in ${currency}`), head, ...lines);
}
