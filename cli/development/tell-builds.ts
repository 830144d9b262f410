import { readRefusal } from "./refusal.ts";

const INTERVAL_MS = 300;

interface BuildTeller {
  /** Tells whether the Worker answers now. */
  readonly answers: () => Promise<boolean>;
  readonly tellRefused: (why: string) => void;
  readonly tellMended: () => void;
}

/** Tells each time that a build is refused, and when the deployment works again. */
export function tellBuilds(
  output: string,
  { answers, tellRefused, tellMended }: BuildTeller,
): void {
  let told: string | undefined;
  const look = async (): Promise<void> => {
    const refusal = readRefusal(output);
    if (refusal !== undefined) {
      if (refusal !== told) tellRefused(refusal);
      told = refusal;
    } else if (told !== undefined && (await answers()) && readRefusal(output) === undefined) {
      // It may have broken again while the Worker was asked.
      told = undefined;
      tellMended();
    }
    setTimeout(() => void look(), INTERVAL_MS).unref();
  };
  void look();
}
