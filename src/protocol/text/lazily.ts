/**
 * Makes something the first time that it is asked for: a pattern over many characters takes milliseconds
 * to compile, which the start of every isolate would pay for.
 */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
