import type { JsonObject } from "../../../protocol/json/value.ts";
import { ok, type Result } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import type { CallFailure } from "../api.ts";
import { drawButton, drawEmpty, drawHeading, formatMade, inWords } from "../draw.ts";
import { drawMore, pagesIn, readPages } from "../pages.ts";
import { numberOf, textOf } from "../read-json.ts";
import type { Section, SectionContext } from "../section.ts";

const KINDS: Readonly<Record<string, string>> = {
  GDD: "design document",
  PRD: "requirements document",
  other: "status report",
};

export const exportsSection: Section = {
  name: "exports",
  title: "Exports",
  entities: ["export"],
  async show(context) {
    const { api, projectId, act, route } = context;
    const read = await readPages(
      api,
      { tool: "list_exports", args: { projectId } },
      pagesIn(route),
    );
    if (!read.ok) return read;
    const { items } = read.value;
    const make = Object.entries(KINDS).map(([kind, words]) =>
      drawButton(`Make a ${words}`, () => act("generate_export", { projectId, kind })),
    );
    const rows = items.map((item) => drawExport(context, item));
    const list =
      rows.length > 0
        ? el("ul", { class: "items", "aria-label": "Exports" }, ...rows)
        : drawEmpty("No document was made yet.", "A document shows the project as it is now.");
    return ok([
      drawHeading("Exports"),
      el("div", { class: "actions" }, ...make),
      list,
      ...drawMore(context, read.value),
    ]);
  },
};

function drawExport({ api }: SectionContext, item: JsonObject): HTMLElement {
  const notice = el("p", { class: "notice", role: "alert" });
  const [title, kind] = [textOf(item, "title"), textOf(item, "kind")];
  const download = drawButton(
    "Download",
    async () => {
      const text = await readParts(api, item);
      notice.textContent = text.ok ? "" : text.failure.message;
      if (text.ok) saveFile(textOf(item, "fileName") || "export.md", text.value);
    },
    { "aria-label": `Download ${title}`, "data-key": `download:${textOf(item, "id")}` },
  );
  const name = el("span", { class: "row-name" }, title);
  const facts = el(
    "span",
    { class: "note" },
    `${inWords(KINDS[kind] ?? kind)}, ${formatMade(item)}`,
  );
  return el("li", {}, el("div", {}, name, facts), download, notice);
}

async function readParts(
  api: SectionContext["api"],
  item: JsonObject,
): Promise<Result<string, CallFailure>> {
  const texts: string[] = [];
  for (let part = 1; part <= Math.max(1, numberOf(item, "parts")); part += 1) {
    const read = await api.read("get_export", { exportId: textOf(item, "id"), part });
    if (!read.ok) return read;
    texts.push(textOf(read.value, "text"));
  }
  return ok(texts.join(""));
}

/** Hands a text to the browser as a file. It is never opened as a page. */
function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "text/markdown" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
