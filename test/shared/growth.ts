/** Sixteen times the length: what is quadratic takes two hundred and fifty-six times as long. */
const TIMES = 16;
/** What is linear stays far below, also with a collection of garbage in between. */
export const LINEAR = 128;
/** Shorter times are mostly noise. */
const LEAST_MS = 2;

/**
 * Tells how much longer work takes on sixteen times the length. It counts processor time, because
 * a busy machine stretches any other. For tests in Node.
 */
export function growthOf(work: (length: number) => void, length: number): number {
  work(length);
  const fastest = (at: number): number =>
    Math.min(...Array.from({ length: 3 }, () => processorMs(() => work(at))));
  return fastest(TIMES * length) / Math.max(fastest(length), LEAST_MS);
}

function processorMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}
