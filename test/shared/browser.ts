import { chromium, type Browser } from "playwright-core";

/** Starts Debian's chromium, or the one that CHROMIUM_PATH names. */
export function startBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env["CHROMIUM_PATH"] ?? "/usr/bin/chromium",
    args: ["--no-sandbox"],
  });
}
