/** Turns `time_zone` and `timeZone` into "Time zone". */
export function sentence(name: string): string {
  const words = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .replaceAll(/[_\-.\s]+/g, " ")
    .trim()
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Formats a path as a label: `["a", "bC"]` becomes "A › B c". */
export function formatPath(path: readonly string[]): string {
  return path.length === 0 ? "Value" : path.map((key) => sentence(key) || key).join(" › ");
}
