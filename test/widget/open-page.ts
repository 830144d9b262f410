import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type {
  Browser,
  BrowserContext,
  BrowserContextOptions,
  Page,
  ViewportSize,
} from "playwright-core";
import { closePages, openBrowser } from "../../scripts/browser.ts";
import { type ScriptedApi, type ScriptedRun, startScriptedApi } from "./scripted-api.ts";

/** The built page in a real browser, in front of a scripted API. */
export interface Stage {
  /** Opens the chat, or the address `at`, after `prepare` has set up the API. */
  open(options?: VisitOptions): Promise<Visit>;
  close(): Promise<void>;
}

export interface VisitOptions {
  readonly at?: string;
  readonly viewport?: ViewportSize;
  readonly colorScheme?: "light" | "dark";
  /** A reader's language and time zone. Such a visit has a browser context of its own. */
  readonly reader?: Pick<BrowserContextOptions, "locale" | "timezoneId">;
  readonly prepare?: (api: ScriptedApi) => void;
  /** Holds back timers of one second until the test calls `release` in the page. */
  readonly holdSeconds?: boolean;
}

/** One tab with its own API. */
export interface Visit {
  readonly page: Page;
  readonly api: ScriptedApi;
  /** Script errors and policy violations that the browser reported. */
  readonly complaints: readonly string[];
  /** Returns the complaints so far, which the test expected, and forgets them. */
  takeComplaints(): readonly string[];
  /** Sends a question, once no answer is on its way, and returns the run that it starts. */
  ask(question: string): Promise<ScriptedRun>;
  /**
   * Calls a function inside the page with the element's shadow root. The function is text, because
   * these tests are typed without the DOM.
   */
  inside<T>(functionOfRoot: string): Promise<T>;
  close(): Promise<void>;
}

let built: Promise<string> | undefined;

/** Builds the pages, once in this process, into a folder that ends with it. */
async function buildPages(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), "interlock-page-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  const script = join(import.meta.dirname, "../../scripts/build-widget.mjs");
  await promisify(execFile)(process.execPath, [script, folder]);
  return folder;
}

/**
 * A page that moves is drawn sixty times a second, which takes an eighth of these tests' time. And
 * no colour is on its way to another one.
 */
const STILL = { reducedMotion: "reduce" } as const;

/** Opens the shared browser in front of the built pages. */
export async function openStage(): Promise<Stage> {
  built ??= buildPages();
  const [directory, browser] = await Promise.all([built, openBrowser()]);
  const shared = await browser.newContext(STILL);
  // An open page keeps the process that the pages of the visits share.
  await shared.newPage();
  return {
    open: (options = {}) => openVisit({ browser, shared, directory, options }),
    close: () => closePages(browser),
  };
}

async function openVisit(place: {
  readonly browser: Browser;
  readonly shared: BrowserContext;
  readonly directory: string;
  readonly options: VisitOptions;
}): Promise<Visit> {
  const api = await startScriptedApi(place.directory);
  const { at = "", prepare, holdSeconds = false, viewport, colorScheme, reader } = place.options;
  prepare?.(api);
  // Each visit has an origin of its own, so visits of one context share no storage.
  const own = reader && (await place.browser.newContext({ ...STILL, ...reader }));
  const page = await (own ?? place.shared).newPage();
  if (viewport) await page.setViewportSize(viewport);
  if (colorScheme) await page.emulateMedia({ colorScheme });
  if (holdSeconds) await page.addInitScript(HOLD_SECONDS);
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(error.message));
  page.on("dialog", (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    dialog.dismiss().catch(() => undefined);
  });
  page.on("console", (message) => {
    const text = message.text();
    if (/security policy|trusted/i.test(text)) complaints.push(text);
  });
  await page.goto(`${api.url}${at}`);
  return {
    page,
    api,
    complaints,
    takeComplaints: () => complaints.splice(0),
    async ask(question) {
      // During an answer the message would steer it.
      await page.getByRole("button", { name: "Stop", exact: true }).waitFor({ state: "hidden" });
      const started = page.waitForResponse(/\/v1\/chat$/);
      await page.getByLabel("Message").fill(question);
      await page.getByLabel("Message").press("Enter");
      await started;
      return lastRun(api);
    },
    inside: (functionOfRoot) =>
      page.evaluate(
        `(${functionOfRoot})(document.querySelector("interlock-gameplan, interlock-chat, interlock-approvals, interlock-runs").shadowRoot)`,
      ),
    async close() {
      await (own ?? page).close();
      api.close();
    },
  };
}

const HOLD_SECONDS = `{
  const { setTimeout } = window;
  let held = [];
  window.setTimeout = (call, ms, ...rest) =>
    ms === 1000 ? held.push(call) : setTimeout(call, ms, ...rest);
  window.release = () => {
    const due = held;
    held = [];
    for (const call of due) call();
  };
}`;

/** Returns the run that was started last. */
export function lastRun(api: ScriptedApi): ScriptedRun {
  const run = api.runs.at(-1);
  if (!run) throw new Error("no run was started");
  return run;
}
