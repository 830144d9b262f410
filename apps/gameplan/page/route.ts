/** What the page shows: a section of a project, or one thing in it. It is the address after `#`. */
export interface Route {
  readonly projectId?: string;
  readonly section: string;
  readonly itemId?: string;
  /** Search, filters, order and number of pages, by name. An empty value is absent. */
  readonly query?: Readonly<Record<string, string>>;
}

/** Reads an address after `#`. Contract: never throws; what is missing is absent. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [projectId, section, itemId] = path.split("/").map(decode);
  const given = [...new URLSearchParams(query)].filter(([, value]) => value !== "");
  return {
    ...(projectId && { projectId }),
    section: section || "systems",
    ...(itemId && { itemId }),
    ...(given.length > 0 && { query: Object.fromEntries(given) }),
  };
}

export function formatRoute({ projectId = "", section, itemId, query = {} }: Route): string {
  const path = [projectId, section, ...(itemId === undefined ? [] : [itemId])];
  const given = Object.entries(query).filter(([, value]) => value !== "");
  const search = given.length > 0 ? `?${new URLSearchParams(given).toString()}` : "";
  return `#/${path.map(encodeURIComponent).join("/")}${search}`;
}

/** Reads one value of the query; empty when it is absent. */
export function queryOf({ query = {} }: Pick<Route, "query">, name: string): string {
  return Object.hasOwn(query, name) ? (query[name] ?? "") : "";
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
