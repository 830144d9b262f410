import { CHAT_FILES } from "./chat-files.ts";
/**
 * A page that the deployment serves, by the paths of its files. Each path is an address of the
 * Worker, and a file of the assets: `/desk` is the file `desk.html`.
 */
export interface Page {
  /** Exact paths that begin with a slash. Only these are served. */
  readonly paths: readonly string[];
}

/**
 * Contract: pure. Answers one sentence for each path that cannot be served, for the operator.
 */
export function checkPages(pages: readonly Page[]): readonly string[] {
  return pages
    .flatMap(({ paths }) => paths)
    .filter((path) => !PATH.test(path) || path.startsWith("/v1/") || path === "/healthz")
    .map((path) => `A page cannot have the path ${path}`);
}

const PATH = /^\/(?:[\w-][\w.-]*(?:\/[\w-][\w.-]*)*)?$/;

/** The chat: the page, and the element that other pages embed. */
export const chatPage: Page = { paths: ["/", "/language.js", ...CHAT_FILES] };

/** The approvals of a tenant. */
export const approvalsPage: Page = {
  paths: ["/approvals", "/approvals.js", "/language.js", "/widget-de.js", "/page.css"],
};

/** The runs of a tenant, and what decided each of them. */
export const runsPage: Page = {
  paths: ["/runs", "/runs.js", "/language.js", "/widget-de.js", "/page.css"],
};

/** The reference of the HTTP API, and its document of OpenAPI. */
export const referencePage: Page = { paths: ["/docs", "/docs.css", "/openapi.json"] };

/** GamePlan's projects beside the chat, for a deployment with GamePlan's tools and workspace. */
export const gameplanPage: Page = {
  paths: ["/gameplan", "/gameplan.js", "/gameplan-shared.js", "/gameplan-later.js", ...CHAT_FILES],
};
