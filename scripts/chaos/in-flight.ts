/** Works through items, `limit` at a time. Fails: throws the first error after all items ended. */
export async function inFlight<T>(
  limit: number,
  items: Iterable<T>,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const rest = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = rest.next(); !next.done; next = rest.next()) await work(next.value);
  };
  const ended = await Promise.allSettled(Array.from({ length: limit }, worker));
  const failed = ended.find((end) => end.status === "rejected");
  if (failed) throw failed.reason;
}
