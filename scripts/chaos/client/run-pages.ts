import type { Page } from "playwright-core";
import { openBrowser } from "../../browser.ts";
import type { Target } from "./target.ts";

/** What somebody reads on the page of a run: visible text alone. */
export interface RunPage {
  readonly title: string;
  readonly text: string;
  /** The part of the text about each call. */
  readonly calls: readonly string[];
}

export type ReadRunPage = (runId: string) => Promise<RunPage>;

/** Longest time until the page shows a run. Unit: milliseconds. */
const PATIENCE_MS = 30_000;

/**
 * Signs in at `/runs` of a deployment as its operator, and gives `use` a reader of its pages of
 * runs. One tab of the browser reads them all.
 * Fails: throws when the page shows no form for a token, and what `use` throws.
 */
export async function withRunPages(
  { url, token }: Target,
  use: (read: ReadRunPage) => Promise<void>,
): Promise<void> {
  const browser = await openBrowser();
  const context = await browser.newContext({ locale: "en-GB", timezoneId: "UTC" });
  context.setDefaultTimeout(PATIENCE_MS);
  try {
    const page = await context.newPage();
    await page.goto(`${url}/runs`);
    await page.getByLabel("Access token").fill(token);
    await page.getByRole("button", { name: "Continue" }).click();
    await use((runId) => readRunPage(page, `${url}/runs#${runId}`, runId));
  } finally {
    await context.close();
  }
}

/** Fails: throws with the text of the page when it does not show the run. */
async function readRunPage(page: Page, address: string, runId: string): Promise<RunPage> {
  await page.goto(address);
  const article = page
    .getByRole("article", { name: "Run", exact: true })
    .filter({ has: page.getByRole("definition").getByText(runId, { exact: true }) });
  try {
    await article.waitFor();
  } catch {
    throw new Error(
      `the page shows no run ${runId}, but ${await page.locator("body").innerText()}`,
    );
  }
  return {
    title: await article.getByRole("heading", { level: 2 }).innerText(),
    text: await article.innerText(),
    calls: await article.locator("section.call").allInnerTexts(),
  };
}
