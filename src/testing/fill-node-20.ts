/**
 * Defines the functions that Interlock uses and Node 20 lacks. Workers and later versions of Node
 * have them; there it changes nothing. Contract: idempotent.
 */
export function fillNode20(): void {
  fill(Promise, "withResolvers", withResolvers);
  fill(Map, "groupBy", groupBy);
  fill(URL, "parse", (url: string, base?: string) =>
    URL.canParse(url, base) ? new URL(url, base) : null,
  );
}

function fill(target: object, name: string, value: unknown): void {
  if (Object.hasOwn(target, name)) return;
  Object.defineProperty(target, name, { value, writable: true, configurable: true });
}

function withResolvers(): object {
  const resolvers: { resolve?: unknown; reject?: unknown } = {};
  const promise = new Promise((resolve, reject) => Object.assign(resolvers, { resolve, reject }));
  return { promise, ...resolvers };
}

function groupBy(
  items: Iterable<unknown>,
  keyOf: (item: unknown, index: number) => unknown,
): Map<unknown, unknown[]> {
  const groups = new Map<unknown, unknown[]>();
  let index = 0;
  for (const item of items) {
    const key = keyOf(item, index++);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}
