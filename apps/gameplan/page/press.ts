/**
 * Follows the presses of a pointer on an element. A click needs its press and its release on the
 * same thing, so nothing is drawn anew between them: the click would be lost.
 */
export function createPress(element: HTMLElement, signal: AbortSignal) {
  let pressed: { readonly ended: Promise<void>; readonly end: () => void } | undefined;
  const release = (): void => {
    const released = pressed;
    pressed = undefined;
    // The click follows the release.
    if (released) setTimeout(released.end);
  };
  element.addEventListener(
    "pointerdown",
    () => {
      release();
      const { promise, resolve } = Promise.withResolvers<void>();
      pressed = { ended: promise, end: resolve };
    },
    { signal, capture: true },
  );
  for (const type of ["pointerup", "pointercancel"]) {
    addEventListener(type, release, { signal, capture: true });
  }
  return {
    /** Resolves at once without a press. */
    ended: (): Promise<void> => pressed?.ended ?? Promise.resolve(),
  };
}
