/** What lets clients declare tools that they run themselves. */
export interface ClientTools {
  /** The runtime's own: see client-tool-parts.ts. */
  readonly parts: unknown;
}
