import axe from "axe-core";
import type { Page } from "playwright-core";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

interface Found {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Gives axe-core to a page, whose barriers a test wants to find. */
export async function startAxe(page: Page): Promise<void> {
  await page.evaluate(axe.source);
}

/**
 * Finds what breaks WCAG 2.2 AA, or a good practice beside it, on a page that has axe-core: one
 * line for each place.
 */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  const run = `axe.run(document, { runOnly: ${JSON.stringify(TAGS)}, resultTypes: ["violations"] })`;
  const { violations } = await page.evaluate<{ violations: readonly Found[] }>(run);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary = "" }) => `${id}: ${html}: ${failureSummary}`),
  );
}

/** Lists the elements that are wider than their box, in the page and in its element. */
export const findWide = (page: Page): Promise<readonly string[]> =>
  page.evaluate<string[]>(`[document, ...[...document.querySelectorAll("*")]
    .flatMap((element) => element.shadowRoot ?? [])]
    .flatMap((root) => [...root.querySelectorAll("html, body, main, header, article, section, p, ul, li, div, form")])
    .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 1 && e.checkVisibility() &&
      !/auto|scroll/.test(getComputedStyle(e).overflowX))
    .map((e) => e.outerHTML.slice(0, 80))`);
