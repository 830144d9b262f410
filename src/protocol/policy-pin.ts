/**
 * Which policy a decision stood on. A tenant's revisions only grow; the document of a hash never
 * changes.
 */
export interface PolicyPin {
  readonly revision: number;
  /** `sha256:…` over the document's canonical JSON. */
  readonly hash: string;
}
