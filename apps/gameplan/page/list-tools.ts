import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { ok, type Result } from "../../../src/protocol/outcome/result.ts";
import { el } from "../../../src/widget/dom.ts";
import type { CallFailure } from "./api.ts";
import { inWords } from "./draw.ts";
import { type Listed, pagesIn, readPages, readWhole } from "./pages.ts";
import { textOf } from "./read-json.ts";
import { parseRoute, queryOf, type Route } from "./route.ts";
import type { SectionContext } from "./section.ts";

/** A filter of a list. Its name is that of the argument, and of its value in the address. */
interface ListFilter {
  readonly name: string;
  readonly label: string;
  readonly values: readonly string[];
}

/** An order of a list. Its name stands in the address. The server's own order has none. */
interface ListOrder {
  readonly name: string;
  readonly label: string;
  readonly compare?: (a: JsonObject, b: JsonObject) => number;
}

/** What the reader can choose about a list. */
export interface ListChoices {
  readonly filters: readonly ListFilter[];
  readonly orders: readonly ListOrder[];
}

/** Compares the texts of a field, in the reader's language; numbers in them by their size. */
export function byText(field: string) {
  return (a: JsonObject, b: JsonObject): number =>
    textOf(a, field).localeCompare(textOf(b, field), undefined, { numeric: true });
}

/** The filters that the address names, as arguments. A value that no filter has is left out. */
export function filtersIn(route: Route, filters: readonly ListFilter[]): JsonObject {
  const chosen = filters.flatMap(({ name, values }) => {
    const value = queryOf(route, name);
    return values.includes(value) ? [[name, value] as const] : [];
  });
  return Object.fromEntries(chosen);
}

/** Reads a list in the order of the address. Another order than the server's needs all of it. */
export async function readOrdered(
  { api, route }: Pick<SectionContext, "api" | "route">,
  list: { readonly tool: string; readonly args: JsonObject },
  { orders, pages = "pages" }: Pick<ListChoices, "orders"> & { readonly pages?: string },
): Promise<Result<Listed, CallFailure>> {
  const compare = orders.find(({ name }) => name === queryOf(route, "sort"))?.compare;
  if (!compare) return readPages(api, list, pagesIn(route, pages));
  const read = await readWhole(api, list);
  return read.ok ? ok({ ...read.value, items: read.value.items.toSorted(compare) }) : read;
}

/** Draws the filters and the order of a list. What is chosen stands in the address. */
export function drawChoices(
  context: SectionContext,
  { filters, orders }: ListChoices,
): HTMLElement[] {
  const selects = filters.map(({ name, label, values }) => {
    const options = [["", `${label}: all`], ...values.map((value) => [value, inWords(value)])];
    return drawChoice(context, { name, label, options });
  });
  const sorted = orders.map(({ name, label }) => [name, `Sorted by ${label.toLowerCase()}`]);
  return [...selects, drawChoice(context, { name: "sort", label: "Order", options: sorted })];
}

/**
 * Shows the list again with another value in the address. The first page is shown then. The address
 * holds what was chosen since the list was drawn; a reader who left the list stays away.
 */
export function ask({ route, go }: SectionContext, name: string, value: string): void {
  const { projectId, section, itemId, query = {} } = parseRoute(location.hash);
  if (projectId !== route.projectId || section !== route.section || itemId !== undefined) return;
  const { pages: _, ...kept } = query;
  go({ section, query: { ...kept, [name]: value } }, { isSilent: true });
}

/** Draws one choice. An empty value is the first one, and stands in no address. */
export function drawChoice(
  context: SectionContext,
  choice: {
    readonly name: string;
    readonly label: string;
    readonly options: readonly (readonly string[])[];
  },
): HTMLElement {
  const { name, label, options } = choice;
  const select = el(
    "select",
    { "aria-label": label, "data-key": name },
    ...options.map(([value = "", words = ""]) => el("option", { value }, words)),
  );
  select.value = queryOf(context.route, name);
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  select.addEventListener("change", () => ask(context, name, select.value));
  return select;
}
