import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Systems take ports for connections, and for servers on port 0, from above this range. */
const FIRST_PORT = 20_000;
const AFTER_LAST_PORT = 30_000;

/**
 * Finds a free port of 127.0.0.1. The system gives ports of this range to no program that did not
 * ask for one, so the port stays free until its server starts.
 */
export async function freePort(): Promise<number> {
  const port = randomInt(FIRST_PORT, AFTER_LAST_PORT);
  return (await isFree(port)) ? port : freePort();
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
