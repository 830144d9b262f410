import { existsSync } from "node:fs";

/** Debian's chromium without windows: it takes half of the other's processor time. */
const SHELL = "/usr/bin/chromium-headless-shell";

/** The browser that tests open: the one that CHROMIUM_PATH names, or Debian's. */
export function browserPath(): string {
  return process.env["CHROMIUM_PATH"] ?? (existsSync(SHELL) ? SHELL : "/usr/bin/chromium");
}
