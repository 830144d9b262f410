/**
 * What people say to a run while it goes.
 * Contract: synchronous; every message is taken once, in the order of arrival.
 */
export interface Inbox {
  readonly hasMail: boolean;
  takeAll(): readonly string[];
}

/** The inbox as its owner has it. Contract: once closed it takes nothing more; what waits can be taken. */
export interface Mailbox extends Inbox {
  close(): void;
}
