/** What became of a call whose outcome was not known. */
export type Reconciliation<T> =
  | { readonly kind: "committed"; readonly output: T }
  | { readonly kind: "not_committed" }
  | { readonly kind: "unknown" };
