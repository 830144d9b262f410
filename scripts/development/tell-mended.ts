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
  const look = async (): Promise<void> => {
    const isRefused = readRefusal(output) !== undefined;
    // It may break again while the Worker is asked.
    if (!isRefused && isBroken && (await answers()) && readRefusal(output) === undefined) {
      isBroken = false;
      tell();
    } else isBroken ||= isRefused;
    setTimeout(() => void look(), INTERVAL_MS).unref();
  };
  void look();
}
