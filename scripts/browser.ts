import { chromium, type Browser } from "playwright-core";
import { browserPath } from "./browser-path.ts";

let started: Promise<Browser> | undefined;

/**
 * Opens the browser of this process. What one process looks at shares it, because its start costs
 * as much as some visits. Its pages share a process too: each one of its own would cost a third of
 * a visit.
 */
export function openBrowser(): Promise<Browser> {
  started ??= chromium.launch({
    executablePath: browserPath(),
    args: ["--no-sandbox", "--disable-gpu", "--in-process-gpu", "--renderer-process-limit=1"],
  });
  return started;
}

/** Closes the browser of this process, where one is open. */
export async function closeBrowser(): Promise<void> {
  await (await started)?.close();
  started = undefined;
}

/** Closes every page, at the end of a test file. */
export async function closePages(browser: Browser): Promise<void> {
  await Promise.all(browser.contexts().map((context) => context.close()));
}
