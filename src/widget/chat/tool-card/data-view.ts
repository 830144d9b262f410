import { formatNumber, formatTime, say } from "../../texts/say.ts";
import type { JsonObject, JsonValue } from "../../../protocol/json/value.ts";
import { sentence } from "../../../protocol/text/field-label.ts";
import { createButton, el } from "../../dom.ts";
import { compareCells, type DataTable, splitTables } from "../answer/data-tables.ts";
import { type Field, formatValue, MAX_FIELDS, readFields } from "../answer/fields.ts";

/** Rows that a table shows before it is asked for all. */
const FIRST_ROWS = 20;

/**
 * Draws data of a call: lists of objects as tables, everything else as labelled values. What both
 * leave out can be read as JSON. Contract: every text becomes a text node.
 */
export function drawDataView(data: JsonValue): HTMLElement[] {
  const { tables, rest, isCut } = splitTables(data);
  const fields = readFields(rest);
  const drawn = [...drawFields(fields), ...tables.map(drawTable)];
  return isCut || fields.length > MAX_FIELDS ? [...drawn, drawJson(data)] : drawn;
}

export function drawFields(fields: readonly Field[]): HTMLElement[] {
  if (fields.length === 0) return [];
  const rows = fields.map(({ label, value }) =>
    el("div", {}, el("dt", {}, label), el("dd", {}, drawText(value))),
  );
  return [el("dl", {}, ...rows)];
}

const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;
const DAY = /^\d{4}-\d{2}-\d{2}$/;
const OFFSET = /[+-]\d{2}:\d{2}$/;
const AS_MOMENT = { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" } as const;
const AS_DAY = { dateStyle: "medium", timeZone: "UTC" } as const;

/**
 * Shows a moment or a day as the reader writes it. Its exact text shows when pointed at. A moment
 * that names the offset of a place is shown in the time of that place.
 */
function drawText(text: string): Node | string {
  const isDay = DAY.test(text);
  const ms = isDay || MOMENT.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms)) return text;
  const shown = isDay ? formatTime(ms, AS_DAY) : formatMoment(text, ms);
  return el("time", { datetime: text, title: text }, shown);
}

function formatMoment(text: string, ms: number): string {
  const [offset] = OFFSET.exec(text) ?? [];
  const placeMs = Date.parse(text.replace(OFFSET, "Z"));
  const isHere = placeMs - ms === new Date(ms).getTimezoneOffset() * -60_000;
  if (offset === undefined || isHere) return formatTime(ms);
  return `${formatTime(placeMs, AS_MOMENT)} (UTC${offset})`;
}

function drawTable({ label, columns, rows }: DataTable): HTMLElement {
  const heads = columns.map((key) => createHead(key));
  const body = el("tbody");
  const more = createButton("", say("Show all {count} rows", { count: formatNumber(rows.length) }));
  let shown = rows;
  let limit = FIRST_ROWS;

  function draw(): void {
    body.replaceChildren(...shown.slice(0, limit).map((row) => drawRow(row, columns)));
    more.hidden = rows.length <= limit;
  }

  for (const [index, { button }] of heads.entries()) {
    button.addEventListener("click", () => {
      const isDown = heads[index]?.cell.getAttribute("aria-sort") === "ascending";
      for (const { cell } of heads) cell.removeAttribute("aria-sort");
      heads[index]?.cell.setAttribute("aria-sort", isDown ? "descending" : "ascending");
      shown = sortRows(rows, columns[index] ?? "", isDown);
      draw();
    });
  }
  more.addEventListener("click", () => {
    limit = rows.length;
    draw();
  });
  draw();
  const head = el("thead", {}, el("tr", {}, ...heads.map(({ cell }) => cell)));
  const table = el("table", {}, el("caption", {}, label), head, body);
  return el("div", { class: "data-table", tabindex: "0" }, table, more);
}

function createHead(key: string): { cell: HTMLElement; button: HTMLButtonElement } {
  const button = createButton("sort", sentence(key) || key);
  return { cell: el("th", { scope: "col" }, button), button };
}

function sortRows(
  rows: readonly JsonObject[],
  key: string,
  isDown: boolean,
): readonly JsonObject[] {
  const sorted = rows.toSorted((one, other) => compareCells(own(one, key), own(other, key)));
  return isDown ? sorted.toReversed() : sorted;
}

function drawRow(row: JsonObject, columns: readonly string[]): HTMLElement {
  const cells = columns.map((key) => {
    const value = own(row, key);
    const text = value === undefined ? "" : formatValue(value, key);
    return el("td", typeof value === "number" ? { class: "number" } : {}, drawText(text));
  });
  return el("tr", {}, ...cells);
}

/** Threat: keys are untrusted. `__proto__` must not answer for a missing key. */
function own(row: JsonObject, key: string): JsonValue | undefined {
  return Object.hasOwn(row, key) ? row[key] : undefined;
}

/** Large data stays folded, and is written when it is opened. */
function drawJson(data: JsonValue): HTMLElement {
  const root = el("details", { class: "json" }, el("summary", {}, say("All as JSON")));
  root.addEventListener(
    "toggle",
    () => root.append(el("pre", { class: "whole-result", tabindex: "0" }, write(data))),
    { once: true },
  );
  return root;
}

function write(data: JsonValue): string {
  return JSON.stringify(data, null, 2);
}
