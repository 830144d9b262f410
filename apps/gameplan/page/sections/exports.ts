import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import type { CallFailure } from "../api.ts";
import {
  drawButton,
  drawEmpty,
  drawHeading,
  drawRows,
  formatMade,
  inWords,
  plural,
} from "../draw.ts";
import { DATA_FILES, parseData, writeSystemFile } from "../data-files.ts";
import { drawMore, pagesIn, readPages } from "../pages.ts";
import { numberOf, objectOf, textOf } from "../read-json.ts";
import type { SectionContext, ShowSection } from "../section.ts";

/** Documents that are written once and stay. */
const KINDS: Readonly<Record<string, string>> = {
  GDD: "design document",
  PRD: "requirements document",
  other: "status report",
};

export const showExports: ShowSection = (context) =>
  context.route.itemId ? showOne(context) : showList(context);

const showList: ShowSection = async (context) => {
  const { api, projectId, route, link } = context;
  const read = await readPages(api, { tool: "list_exports", args: { projectId } }, pagesIn(route));
  if (!read.ok) return read;
  const rows = read.value.items.map((item) => ({
    href: link("exports", textOf(item, "id")),
    name: textOf(item, "title"),
    facts: [nameOf(item), formatMade(item)],
  }));
  const list =
    rows.length > 0
      ? drawRows("Exports", rows)
      : drawEmpty("No document was made yet.", "A document shows the project as it is now.");
  const make = Object.entries(KINDS).map(([kind, words]) => drawMake(context, kind, words));
  const data = Object.entries(DATA_FILES).map(([kind, { title }]) =>
    el("a", { class: "button", href: link("exports", `data:${kind}`) }, title),
  );
  const buttons = el("div", { class: "actions" }, ...make, ...data);
  return ok([drawHeading("Exports"), buttons, list, ...drawMore(context, read.value)]);
};

function nameOf(item: JsonObject): string {
  const kind = textOf(item, "kind");
  return inWords(KINDS[kind] ?? kind);
}

/** Makes a document, and shows it before anybody downloads it. */
function drawMake(
  { act, go, projectId }: SectionContext,
  kind: string,
  words: string,
): HTMLElement {
  return drawButton(`Make a ${words}`, async () => {
    const made = await act("generate_export", { projectId, kind });
    if (made) go({ section: "exports", itemId: textOf(objectOf(made, "export"), "id") });
  });
}

const showOne: ShowSection = async (context) => {
  const { link, owns } = context;
  const read = await readFile(context);
  const up = el("a", { class: "up", href: link("exports"), "data-key": "up" }, "All exports");
  if (!read.ok) {
    if (read.failure.code !== "not_found") return fail(read.failure);
    const hint = "It may be in the bin.";
    return ok([up, drawEmpty("This document is not in the project any more.", hint)]);
  }
  const { item, title, fileName, text } = read.value;
  if (!owns(item)) return ok([]);
  const label = { class: "primary", "aria-label": `Download ${title}` };
  const download = drawButton("Download", async () => saveFile(fileName, text), label);
  const facts = [fileName, plural(text.length, "character"), formatMade(item)].filter(Boolean);
  return ok([
    up,
    drawHeading(title),
    el("p", { class: "note" }, facts.join(" · ")),
    el("div", { class: "actions" }, download),
    el("pre", { tabindex: "0", "aria-label": "Preview", "data-key": "preview" }, text),
  ]);
};

interface ReadFile {
  /** What the server says about it. */
  readonly item: JsonObject;
  readonly title: string;
  readonly fileName: string;
  readonly text: string;
}

/** Reads the file that the address names: a document, or a system or the data as they are now. */
async function readFile({
  api,
  projectId,
  route,
}: SectionContext): Promise<Result<ReadFile, CallFailure>> {
  const [, kind = ""] = /^data:(.*)$/.exec(route.itemId ?? "") ?? [];
  const [, systemId] = /^system:(.*)$/.exec(route.itemId ?? "") ?? [];
  if (systemId !== undefined) return readSystem(api, systemId);
  const file = Object.hasOwn(DATA_FILES, kind) ? DATA_FILES[kind] : undefined;
  if (file) return writeFile(api, projectId, file);
  const args = { exportId: route.itemId ?? "" };
  const read = await readParts(api, { tool: "get_export", args, describe: "export" });
  if (!read.ok) return read;
  const { item, text } = read.value;
  const fileName = textOf(item, "fileName") || "export.md";
  return ok({ item, text, fileName, title: textOf(item, "title") });
}

/** Writes a system as Markdown that the import reads as the same system. */
async function readSystem(
  api: SectionContext["api"],
  systemId: string,
): Promise<Result<ReadFile, CallFailure>> {
  const read = await api.read("get_game_system", { systemId });
  if (!read.ok) return read;
  const item = objectOf(read.value, "system");
  const [title, slug] = [textOf(item, "name"), textOf(item, "systemSlug")];
  return ok({ item, title, fileName: `${slug}.md`, text: writeSystemFile(read.value) });
}

/** Writes the data of a project as it is now. */
async function writeFile(
  api: SectionContext["api"],
  projectId: string,
  { title, ending, write }: (typeof DATA_FILES)[string],
): Promise<Result<ReadFile, CallFailure>> {
  const read = await readParts(api, { tool: "export_data", args: { projectId } });
  if (!read.ok) return read;
  const fileName = `game-${new Date().toISOString().slice(0, 10)}.${ending}`;
  return ok({ item: {}, text: write(parseData(read.value.text)), fileName, title });
}

/** A file that a tool answers in parts. `describe` names what describes the whole. */
interface PartedFile {
  readonly tool: string;
  readonly args: JsonObject;
  readonly describe?: string;
}

const CHANGED: CallFailure = {
  code: "changed",
  message: "The project changed while it was read.",
  needsToken: false,
};

async function readParts(
  api: SectionContext["api"],
  { tool, args, describe }: PartedFile,
): Promise<Result<{ readonly item: JsonObject; readonly text: string }, CallFailure>> {
  const texts: string[] = [];
  let characters: number | undefined;
  for (let part = 1; ; part += 1) {
    const read = await api.read(tool, { ...args, part });
    if (!read.ok) return read;
    const item = describe === undefined ? read.value : objectOf(read.value, describe);
    characters ??= numberOf(item, "characters");
    if (numberOf(item, "characters") !== characters) return fail(CHANGED);
    texts.push(textOf(read.value, "text"));
    if (part >= numberOf(item, "parts")) return ok({ item, text: texts.join("") });
  }
}

/** Hands a text to the browser as a file. It is never opened as a page. */
function saveFile(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
