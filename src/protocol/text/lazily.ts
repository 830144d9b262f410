/**
 * Makes a value at its first use. A pattern over many characters takes milliseconds to compile, and
 * an isolate must not pay for that at its start.
 */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
