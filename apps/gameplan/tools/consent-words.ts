/** The name that `preview` read, in quotes; else the id. */
export function nameOr(name: unknown, id: string): string {
  return typeof name === "string" ? `"${name}"` : id;
}

/** A type of dependency as the verb of a sentence. */
export function verbOf(type: string): string {
  return type === "optional" ? "can use" : type;
}

/** Names for people, who do not read an empty list as one. */
export function listOrNone(names: readonly string[]): readonly string[] | "none" {
  return names.length > 0 ? names : "none";
}

/** Writes `1 message` and `2 messages`, `1 activity` and `2 activities`. */
export function formatCount(count: number, one: string): string {
  return `${count} ${count === 1 ? one : `${one.replace(/y$/, "ie")}s`}`;
}
