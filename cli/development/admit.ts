import type { IncomingMessage } from "node:http";

const HOST = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?$/;
const OWN_SITES: ReadonlySet<unknown> = new Set(["same-origin", "none"]);

/**
 * Says why the development server refuses a request; undefined when the request may pass.
 * Threat: a page that rebinds its name to loopback. The request must name a loopback host.
 * Threat: a page on another local port. The platform's server lets every page of this machine read
 * and write all data through `/cdn-cgi/`. Such a request must prove that it is no foreign page's:
 * one header says that it comes from our own origin, and no header says otherwise.
 */
export function refuseForeign({ headers, url = "" }: IncomingMessage): string | undefined {
  if (!HOST.test(headers.host ?? "")) {
    return "The development server answers to loopback hosts only.";
  }
  if (!isOfPlatform(url) || isProvenOwn(headers)) return undefined;
  return (
    "The development server answers /cdn-cgi/ to its own origin only. " +
    `A program sends this header: Origin: http://${headers.host}`
  );
}

/** Threat: a page of another origin that changes who acts. */
export function isSameOrigin({ headers }: Pick<IncomingMessage, "headers">): boolean {
  return headers.origin === undefined || headers.origin === `http://${headers.host}`;
}

/** Reads the path as the platform does. A path that cannot be read counts as the platform's. */
function isOfPlatform(target: string): boolean {
  const path = URL.parse(target, "http://localhost")?.pathname;
  return path === undefined || /^\/+cdn-cgi(?:\/|$)/i.test(path);
}

/** Old browsers send neither header with some requests of foreign pages. */
function isProvenOwn(headers: IncomingMessage["headers"]): boolean {
  const site = headers["sec-fetch-site"];
  if (!isSameOrigin({ headers }) || (site !== undefined && !OWN_SITES.has(site))) return false;
  return headers.origin !== undefined || site !== undefined;
}
