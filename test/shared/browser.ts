import { chromium, type Browser } from "playwright-core";
import { browserPath } from "./browser-path.ts";

let started: Promise<Browser> | undefined;

/**
 * Opens the browser of this process. The page tests of one process share it, because its start
 * costs as much as some visits. Its pages share a process too: each one of its own would cost a
 * third of a visit.
 */
export function openBrowser(): Promise<Browser> {
  started ??= chromium.launch({
    executablePath: browserPath(),
    args: ["--no-sandbox", "--disable-gpu", "--in-process-gpu", "--renderer-process-limit=1"],
  });
  return started;
}

/** Closes every page, at the end of a test file. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}
