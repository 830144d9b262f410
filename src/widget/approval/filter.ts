import { el } from "../dom.ts";

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

/** Creates the choice of a filter. Its value is the place in FILTERS. */
export function createFilter(): HTMLSelectElement {
  const options = FILTERS.map(([name], at) => el("option", { value: String(at) }, name));
  return el("select", { "aria-label": "Show" }, ...options);
}
