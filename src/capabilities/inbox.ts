/**
 * What people say to a run while it goes.
 * Contract: synchronous; every message is taken once, in the order of arrival.
 */
export interface Inbox {
  readonly hasMail: boolean;
  takeAll(): readonly string[];
}
