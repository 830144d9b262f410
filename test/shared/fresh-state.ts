const renewals: (() => unknown)[] = [];

/**
 * Registers how a module of the tests gets back to its first state. Many test files share one
 * workerd and its modules; `renewState` runs before each of them.
 */
export function beforeEachFile(renew: () => unknown): void {
  renewals.push(renew);
}

/** Brings every registered module back to its first state. */
export function renewState(): void {
  for (const renew of renewals) renew();
}
