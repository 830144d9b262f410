/** Names an invocation within its run, as clients see it: `inv_<number>`. */
export function invocationIdOf(number: number): string {
  return `inv_${number}`;
}

/** Reads an invocation's number; 0, which no invocation has, for any other text. */
export function readInvocationId(id: string): number {
  const [, number = "0"] = /^inv_([1-9]\d{0,8})$/.exec(id) ?? [];
  return Number(number);
}
