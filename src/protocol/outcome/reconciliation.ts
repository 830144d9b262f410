/** Answer of a contract's `reconcile` about a call with an unknown outcome. */
export type Reconciliation<T> =
  | { readonly kind: "committed"; readonly output: T }
  | { readonly kind: "not_committed" }
  | { readonly kind: "unknown" };
