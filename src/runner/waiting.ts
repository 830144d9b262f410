/** The call waits until a person has said what it needs, and is to be asked for again then. */
export const WAITING = "waiting";
