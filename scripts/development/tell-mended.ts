import { readRefusal } from "./refusal.ts";

const INTERVAL_MS = 300;

/**
 * Tells when the deployment works again after a build that was refused. The build itself says why
 * it was refused. `answers` tells whether the Worker answers now.
 */
export function tellMended(
  output: string,
  { answers, tell }: { readonly answers: () => Promise<boolean>; readonly tell: () => void },
): void {
  let isBroken = false;
  let isAsking = false;
  setInterval(() => {
    if (readRefusal(output) !== undefined) isBroken = true;
    else if (isBroken && !isAsking) {
      isAsking = true;
      void answers().then((isReady) => {
        isAsking = false;
        // It may have broken again while the Worker was asked.
        if (!isReady || readRefusal(output) !== undefined) return;
        isBroken = false;
        tell();
      });
    }
  }, INTERVAL_MS).unref();
}
