import { formatNumber, say, type Text } from "../texts/say.ts";
import { el } from "../dom.ts";
import { toVisible } from "../../protocol/text/visible.ts";
import type { RunsApi } from "./api.ts";
import type { CostLine, Costs } from "./read-costs.ts";

const SVG = "http://www.w3.org/2000/svg";
const DAY_MS = 86_400_000;
const [BAR_WIDTH, HEIGHT] = [8, 60];

/** Creates the part that shows what runs cost. It reads the days when it is first opened. */
export function createCosts({ costs }: Pick<RunsApi, "costs">): HTMLElement {
  const root = el("details", { class: "costs" }, el("summary", {}, say("Costs")));
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
  if (currencies.size === 0) return [el("p", { class: "note" }, say("These days cost nothing."))];
  return [...currencies].flatMap((currency) => {
    const inIt = (lines: Rows): Rows => lines.filter((line) => line.currency === currency);
    const tables = [
      drawCostTable("Day", "Cost per day in {currency}", inIt(days)),
      drawCostTable("Assistant", "Cost per assistant in {currency}", inIt(assistants)),
      drawCostTable("Model", "Cost per model in {currency}", inIt(models)),
      drawCostTable("Tool", "Cost per tool in {currency}", inIt(tools)),
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

function drawCostTable(what: Text, caption: Text, rows: Rows): readonly HTMLElement[] {
  const [{ currency } = { currency: "" }] = rows;
  if (rows.length === 0) return [];
  const names = [say(what), say("Cost")];
  const head = el("tr", {}, ...names.map((text) => el("th", { scope: "col" }, text)));
  const lines = rows.map(({ name, amount }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, toVisible(name).text),
      el("td", {}, `${formatNumber(amount)} ${currency}`),
    ),
  );
  return [el("table", {}, el("caption", {}, say(caption, { currency })), head, ...lines)];
}
