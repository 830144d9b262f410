import { type Loopback, startLoopback } from "../adapters/model/loopback.ts";

const DAY_MS = 86_400_000;

/** A date that many days from now, as `YYYY-MM-DD`. */
export function inDays(days: number): string {
  return new Date(Date.now() + days * DAY_MS).toISOString().slice(0, 10);
}

/** A provider that answers this document to every request. */
export function providerOf(document: unknown, status = 200): Promise<Loopback> {
  return startLoopback((response) => {
    const body = typeof document === "string" ? document : JSON.stringify(document);
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  });
}
