import { chromium, type Browser } from "playwright-core";

let started: Promise<Browser> | undefined;

/**
 * Opens the browser of this process: Debian's chromium, or the one that CHROMIUM_PATH names. The
 * page tests of one process share it, because its start costs as much as some visits.
 */
export function openBrowser(): Promise<Browser> {
  started ??= chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
  return started;
}

/** Closes every page, at the end of a test file. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}
