import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { ok, type Result } from "../../../src/protocol/outcome/result.ts";
import { el } from "../../../src/widget/dom.ts";
import type { CallFailure } from "./api.ts";
import { drawButton } from "./draw.ts";
import { listOf, numberOf, textOf } from "./read-json.ts";
import { queryOf, type Route } from "./route.ts";
import type { SectionContext } from "./section.ts";

const ROWS_OF_PAGE = 100;
/** Most pages of one list that the page reads at once. */
const MAX_PAGES = 50;

/** The pages of a list that were read, as one list. */
export interface Listed {
  readonly items: readonly JsonObject[];
  readonly total: number;
  readonly hasMore: boolean;
  /** What the first page says beside its rows. */
  readonly first: JsonObject;
}

/** Reads the number of pages that the address asks for: one more for each "Show more". */
export function pagesIn(route: Route, name = "pages"): number {
  return Math.min(MAX_PAGES, Math.max(1, Math.trunc(Number(queryOf(route, name))) || 1));
}

/** A list that a tool reads. */
interface AskedList {
  readonly tool: string;
  readonly args: JsonObject;
}

/** Reads a list page by page, from its start. */
export async function readPages(
  api: SectionContext["api"],
  { tool, args }: AskedList,
  pages: number,
): Promise<Result<Listed, CallFailure>> {
  const items: JsonObject[] = [];
  let first: JsonObject | undefined;
  let after = "";
  for (let page = 1; page <= pages; page += 1) {
    const asked = { ...args, limit: ROWS_OF_PAGE, ...(after !== "" && { after }) };
    const read = await api.read(tool, asked);
    if (!read.ok) return read;
    first ??= read.value;
    items.push(...listOf(read.value, "items"));
    after = textOf(read.value, "next");
    if (after === "") break;
  }
  const total = Math.max(numberOf(first ?? {}, "total"), items.length);
  return ok({ items, total, hasMore: after !== "", first: first ?? {} });
}

/** Reads a whole list, as far as the page reads lists. */
export function readWhole(api: SectionContext["api"], list: AskedList) {
  return readPages(api, list, MAX_PAGES);
}

/** Says how much of a list is shown, and a button that shows more. `name` is that of `pagesIn`. */
export function drawMore(
  { route, go }: Pick<SectionContext, "route" | "go">,
  { items, total, hasMore }: Listed,
  name = "pages",
): HTMLElement[] {
  if (!hasMore) return [];
  const { section, itemId, query } = route;
  const pages = String(pagesIn(route, name) + 1);
  const more = drawButton(
    "Show more",
    async () =>
      go(
        { section, ...(itemId && { itemId }), query: { ...query, [name]: pages } },
        { isSilent: true },
      ),
    { "data-key": `more:${name}` },
  );
  const shown = `${items.length.toLocaleString()} of ${total.toLocaleString()}`;
  return [el("p", { class: "more" }, more, el("span", { class: "note" }, shown))];
}
