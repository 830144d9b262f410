const TICK_MS = 1_000;

/** Creates a ticker that calls its listener once a second, until `isRunning` returns false. */
export function createTicker(isRunning: () => boolean) {
  let listener = (): void => undefined;
  let isTicking = false;

  function tick(): void {
    isTicking = isRunning();
    if (!isTicking) return;
    listener();
    setTimeout(tick, TICK_MS);
  }

  return {
    onTick(next: () => void): void {
      listener = next;
    },
    start(): void {
      if (isTicking) return;
      isTicking = true;
      setTimeout(tick, TICK_MS);
    },
  };
}
