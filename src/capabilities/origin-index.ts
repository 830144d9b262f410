/**
 * Tells whether any tenant admits the pages of an origin. A preflight has no principal, so this is all
 * that can be known of it; the request that follows is checked against the policy of its own tenant.
 * Contract: never throws; what cannot be read is not listed. It may be a minute old.
 */
export interface OriginIndex {
  isListed(origin: string): Promise<boolean>;
}
