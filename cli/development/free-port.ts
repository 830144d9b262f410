import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Outside the range from which systems take ports for connections and for servers on port 0. */
const FIRST_PORT = 20_000;
const AFTER_LAST_PORT = 30_000;

/**
 * Finds a port of loopback that nobody listens on, and that no other program gets by chance before
 * it is used.
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
