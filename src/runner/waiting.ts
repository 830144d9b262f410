/**
 * The call waits for a person, or for the time of its next attempt. The loop asks for it again
 * after that.
 */
export const WAITING = "waiting";
