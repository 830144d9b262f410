/** The call waits for a person. The loop asks for it again after that person has answered. */
export const WAITING = "waiting";
