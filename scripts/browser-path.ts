import { existsSync } from "node:fs";

/** Debian's chromium without windows: it takes half of the other's processor time. */
const SHELL = "/usr/bin/chromium-headless-shell";

/** The browser of tests and of the chaos proof: the one of CHROMIUM_PATH, or Debian's. */
export function browserPath(): string {
  return process.env["CHROMIUM_PATH"] ?? (existsSync(SHELL) ? SHELL : "/usr/bin/chromium");
}

/** Tells whether this machine has the browser. */
export function hasBrowser(): boolean {
  return existsSync(browserPath());
}
