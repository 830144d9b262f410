/** The assistant that a run uses. The document of a hash never changes. */
export interface AssistantPin {
  readonly id: string;
  /** Grows with each change of any assistant of the tenant. Absent: the deployment's own. */
  readonly revision?: number;
  /** `sha256:…` over the document's canonical JSON. */
  readonly hash: string;
}
