/**
 * One line of `interlock check`.
 * - `error`: the deployment would not answer, would be open, or says what `interlock new tool` left
 *   to be written. The check fails.
 * - `unseen`: the check had no means to look. It does not fail.
 * - `warning`: works, and is probably not meant so.
 */
export interface Finding {
  readonly level: "error" | "unseen" | "warning";
  /** File or place: `wrangler.toml`, `tenant/policy.json`, `secrets`, the id of a tool. */
  readonly place: string;
  /** What is wrong and what to do. It never holds a value of a setting. */
  readonly message: string;
}
