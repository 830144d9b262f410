/** One place where a policy names something that does not exist. */
export interface PolicyMismatch {
  /** JSON pointer into the policy. */
  readonly pointer: string;
  readonly message: string;
}
