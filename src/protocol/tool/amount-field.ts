/**
 * Where the money stands that a call moves: a JSON pointer into the arguments, or into what the
 * contract's preview answers, `{before, after}`.
 */
export type AmountField = string | { readonly preview: string };
