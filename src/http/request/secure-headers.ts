import { CHAT_FILES } from "../pages/chat-files.ts";
/** Content policy of every response: own scripts and styles only, no plug-ins, no frames. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join("; ");

/** Headers of every response. */
export const SECURE_HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "referrer-policy": "no-referrer",
  "strict-transport-security": "max-age=31536000; includeSubDomains",
  "x-content-type-options": "nosniff",
  "cross-origin-resource-policy": "same-origin",
};

/** Files that pages of other origins may load. They hold no data of a tenant. */
const PUBLIC_FILES = new Set<string>(CHAT_FILES);

/**
 * Adds the security headers to a response.
 * Contract: passes the body through unchanged; a stream of the platform stays one.
 */
export function secure(response: Response, request?: Request): Response {
  const secured = new Response(response.body, response);
  for (const [name, value] of Object.entries(SECURE_HEADERS)) secured.headers.set(name, value);
  if (request && PUBLIC_FILES.has(new URL(request.url).pathname)) {
    secured.headers.set("cross-origin-resource-policy", "cross-origin");
  }
  return secured;
}
