import axe from "axe-core";
import type { Page } from "playwright-core";

const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"];

interface Found {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** Finds what breaks WCAG 2.2 AA on a page, by axe-core; one line for each place. */
export async function findBarriers(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe.source);
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
