/** Resolves once the reader sees the page, or at once when aborted. */
export async function untilSeen(signal: AbortSignal): Promise<void> {
  while (document.visibilityState === "hidden" && !signal.aborted) {
    await new Promise<void>((resolve) => {
      const once = { once: true, signal };
      document.addEventListener("visibilitychange", () => resolve(), once);
      signal.addEventListener("abort", () => resolve(), { once: true });
    });
  }
}
