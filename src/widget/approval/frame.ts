import { el, icon, RELOAD_ICON } from "../dom.ts";

/** The filters of the queue, each with its query of `GET /v1/approvals`. */
export const FILTERS: readonly (readonly [
  name: string,
  query: Readonly<Record<string, string>>,
])[] = [
  ["I can decide", { status: "pending", decidable: "true" }],
  ["All pending", { status: "pending" }],
  ["My requests", { status: "pending", mine: "true" }],
  ["Approved", { status: "approved", sort: "newest" }],
  ["Rejected", { status: "rejected", sort: "newest" }],
  ["Expired", { status: "expired", sort: "newest" }],
];

/** Creates the fixed parts of the approvals page. */
export function createFrame() {
  const filter = el("select", { "aria-label": "Show" });
  FILTERS.forEach(([name], at) => filter.append(el("option", { value: String(at) }, name)));
  const reload = createButton({ "aria-label": "Refresh" }, icon(RELOAD_ICON));
  const more = createButton({ class: "more", hidden: "" }, "Show more");
  const back = createButton({ class: "back" }, icon("M12 5l-5 5 5 5"), "All approvals");
  const notice = el("p", { class: "notice", role: "alert" });
  const tools = el("div", { class: "tools" }, filter, reload);
  const header = el("header", {}, el("h1", {}, "Approvals"), tools);
  const side = el("div", { class: "side" });
  const hint = el("p", { class: "note" }, "Select an approval to see what the call would do.");
  const detail = el("main", { class: "detail" }, hint);
  const root = el("div", { class: "panes" }, header, side, detail);
  return { root, side, detail, filter, reload, more, back, notice };
}

function createButton(
  attributes: Readonly<Record<string, string>>,
  ...children: readonly (Node | string)[]
): HTMLButtonElement {
  return el("button", { type: "button", ...attributes }, ...children);
}
