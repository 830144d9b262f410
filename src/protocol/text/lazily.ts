/** Makes a value at its first use, so that the start of an isolate does not pay for it. */
export function lazily<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}

/**
 * Compiles a pattern at its first use. For patterns with `\p`. V8 checks each regular expression
 * literal while it parses the script, also inside functions that never run, and `\p` makes that
 * take up to a millisecond. Text is not checked.
 */
export function lazyPattern(source: string, flags: string): () => RegExp {
  return lazily(() => new RegExp(source, flags));
}
