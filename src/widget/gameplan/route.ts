/** What the page shows: a section of a project, or one thing in it. It is the address after `#`. */
export interface Route {
  readonly projectId?: string;
  readonly section: string;
  readonly itemId?: string;
  readonly search?: string;
}

/** Reads an address after `#`. Contract: never throws; what is missing is absent. */
export function parseRoute(hash: string): Route {
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split("?");
  const [projectId, section, itemId] = path.split("/").map(decode);
  const search = new URLSearchParams(query).get("search");
  return {
    ...(projectId && { projectId }),
    section: section || "systems",
    ...(itemId && { itemId }),
    ...(search && { search }),
  };
}

export function formatRoute({ projectId = "", section, itemId, search }: Route): string {
  const path = [projectId, section, ...(itemId === undefined ? [] : [itemId])];
  const query = search ? `?${new URLSearchParams({ search }).toString()}` : "";
  return `#/${path.map(encodeURIComponent).join("/")}${query}`;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return "";
  }
}
