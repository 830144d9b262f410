import { existsSync } from "node:fs";

/** Both are Debian's. The first draws no window, and takes half of the processor's time. */
const INSTALLED = ["/usr/bin/chromium-headless-shell", "/usr/bin/chromium"];

/** The browser that tests open: the one that CHROMIUM_PATH names, or an installed one. */
export function browserPath(): string | undefined {
  return [process.env["CHROMIUM_PATH"] ?? INSTALLED].flat().find((path) => existsSync(path));
}
