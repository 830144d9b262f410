import { createLinkFinder } from "../../tools/markdown/find-links.ts";
import { parseSystem } from "../../tools/markdown/parse-system.ts";
import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawButton, drawGroup, drawHeading, drawMarkdown, drawTag, plural } from "../draw.ts";
import { loadDraft, saveDraft } from "../drafts.ts";
import { drawEditForm, forgetTyped } from "../edit-form.ts";
import { VERBS } from "../graph/picture.ts";
import { objectOf, textOf, textsOf } from "../read-json.ts";
import { queryOf } from "../route.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import { readNamedSystems } from "./plan-form.ts";
import type { NamedSystem } from "./plan-scope.ts";
import { SYSTEM_TEXTS } from "./system-fields.ts";

/** Longest document that the importer takes. Unit: characters. */
const MOST_CHARACTERS = 24_000;
const MOST_NAME_CHARACTERS = 200;

/** What the reader typed, or the text of a file, until it is imported or discarded. */
interface Typed {
  readonly markdown: string;
  /** Of the file that the text comes from; empty for none. */
  readonly fileName: string;
  /** The text that a file took the place of. */
  readonly before: string;
}

const draftOf = ({ projectId }: Pick<SectionContext, "projectId">): string => `import/${projectId}`;

function loadTyped(context: SectionContext): Typed {
  const { markdown, fileName, before } = loadDraft(draftOf(context));
  return {
    markdown: markdown?.text ?? "",
    fileName: fileName?.text ?? "",
    before: before?.text ?? "",
  };
}

function saveTyped(context: SectionContext, typed: Typed): void {
  const given = Object.entries(typed).filter(([, text]) => text !== "");
  const draft = given.map(([name, text]) => [name, { base: "", text: String(text) }] as const);
  saveDraft(draftOf(context), Object.fromEntries(draft));
}

/** Takes a text or a file, shows what is understood of it, and makes a system of it. */
export const showImport: ShowSection = async (context) => {
  const { projectId, route, link } = context;
  const { markdown, fileName } = loadTyped(context);
  const up = el("a", { class: "up", href: link("systems"), "data-key": "up" }, "All systems");
  if (queryOf(route, "preview") === "" || markdown === "") {
    return ok([up, drawHeading("Import a system"), ...drawText(context)]);
  }
  const read = await readNamedSystems(context);
  if (!read.ok) return read;
  const understood = understand(markdown, fileName, read.value);
  if (!understood) {
    const why = el("p", { class: "notice", role: "alert" }, "The document has no text.");
    return ok([up, drawHeading("Import a system"), why, drawBack(context)]);
  }
  const args = { projectId, markdown, ...(fileName && { fileName }) };
  return ok([up, ...drawPreview(context, args, understood)]);
};

type Understood = NonNullable<ReturnType<typeof understand>>;

/** Reads a document as the tool does. Undefined: it has no text. */
function understand(markdown: string, fileName: string, systems: readonly NamedSystem[]) {
  const links = createLinkFinder(() => systems);
  const parsed = parseSystem(markdown, { fileName, takeLink: links.take });
  if (!parsed) return undefined;
  const isTaken = systems.some(({ slug }) => slug === parsed.system.systemSlug);
  const renamed = isTaken ? ["The short name is taken: it gets a number."] : [];
  const warnings = [...parsed.warnings, ...links.warnings, ...renamed];
  return { system: parsed.system, found: links.found, warnings };
}

const LEAD =
  "Choose a Markdown file, or write one here: a title, headings such as Purpose or Core mechanics, " +
  "and below Depends on the names of other systems. You see what is understood before " +
  "anything is written.";

/** The first step: a file, or a text to write or to paste. */
function drawText(context: SectionContext): HTMLElement[] {
  const { go } = context;
  const form = drawEditForm({
    id: draftOf(context),
    row: {},
    fields: [
      {
        name: "markdown",
        label: "Markdown",
        kind: "text",
        most: MOST_CHARACTERS,
        check: (text) => (/\S/.test(text) ? undefined : "Choose a file, or write a text."),
      },
    ],
    submit: "Preview",
    isStanding: true,
    save: async () => {
      go({ section: "import", query: { preview: "1" } });
      return false;
    },
    close: () => go({ section: "import" }, { isSilent: true }),
  });
  form.querySelector("textarea")?.setAttribute("rows", "14");
  const typed = loadTyped(context);
  const again = drawButton("Put back the text before", async () => {
    saveTyped(context, { markdown: typed.before, before: typed.markdown, fileName: "" });
    go({ section: "import" }, { isSilent: true });
  });
  const chosen = typed.before === "" ? [] : [again];
  const files = el("div", { class: "actions" }, ...drawChooser(context), ...chosen);
  return [el("p", { class: "note" }, LEAD), files, form];
}

function drawChooser(context: SectionContext): readonly HTMLElement[] {
  const accept = ".md,.markdown,.txt,text/markdown,text/plain";
  const input = el("input", { type: "file", accept, hidden: "", "aria-label": "Markdown file" });
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    // The same file can be chosen again after it was corrected.
    input.value = "";
    if (file) void takeFile(context, file);
  });
  return [drawButton("Choose a file", async () => input.click()), input];
}

/** Puts the text of a file in the place of what was typed, which can be put back. */
async function takeFile(context: SectionContext, file: File): Promise<void> {
  const { go, tell } = context;
  // A character has at most three bytes for each of its UTF-16 units.
  const isLong = file.size > 3 * MOST_CHARACTERS;
  const markdown = isLong ? "" : await readText(file);
  if (markdown === undefined) {
    return tell(
      `"${file.name}" is not a text that this page can read. Save it as plain text in UTF-8, ` +
        "which most editors and word processors offer, and choose it again.",
    );
  }
  if (isLong || markdown.length > MOST_CHARACTERS) {
    const limit = MOST_CHARACTERS.toLocaleString();
    return tell(`"${file.name}" is too long. Choose a text of at most ${limit} characters.`);
  }
  if (!/\S/.test(markdown)) return tell(`"${file.name}" is empty.`);
  const before = loadTyped(context).markdown;
  const fileName = file.name.slice(0, MOST_NAME_CHARACTERS).toWellFormed();
  saveTyped(context, { markdown, fileName, before: before === markdown ? "" : before });
  go({ section: "import", query: { preview: "1" } });
}

/** Undefined when the browser cannot read the file, or the file is no text. */
async function readText(file: File): Promise<string | undefined> {
  try {
    const bytes = await file.arrayBuffer();
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The second step: what was understood. Nothing is written before the reader confirms. */
function drawPreview(
  context: SectionContext,
  args: JsonObject,
  { system, found, warnings }: Understood,
): HTMLElement[] {
  const facts = [
    plural(SYSTEM_TEXTS.filter(([key]) => system[key]).length, "text"),
    plural(found.length, "dependency", "dependencies"),
    warnings.length === 0 ? "everything was understood" : plural(warnings.length, "note"),
  ];
  const lead = `Nothing is written yet. This was understood: ${facts.join(", ")}.`;
  const confirm = drawButton("Import this system", () => importSystem(context, args, warnings), {
    class: "primary",
  });
  const notes = warnings.map((warning) => el("li", {}, warning));
  const links = found.map(({ target, type }) => {
    const href = context.link("systems", target.id);
    const name = el("a", { href, "data-key": href }, target.name);
    return el("li", {}, name, el("span", { class: "note" }, ` ${VERBS[type] ?? type}`));
  });
  return [
    drawHeading(
      system.name,
      drawTag(system.mvpCriticality ?? "important"),
      drawTag(system.status ?? "draft"),
    ),
    el("p", { class: "note" }, system.systemSlug),
    el("p", {}, lead),
    ...drawGroup("Read this first", ...(notes.length > 0 ? [el("ul", {}, ...notes)] : [])),
    ...drawGroup(
      "Depends on",
      ...(links.length > 0 ? [el("ul", { class: "links" }, ...links)] : []),
    ),
    el("div", { class: "actions" }, confirm, drawBack(context)),
    ...SYSTEM_TEXTS.flatMap(([key, title]) => {
      const text = system[key];
      return text ? drawGroup(title, drawMarkdown(text)) : [];
    }),
  ];
}

function drawBack({ link }: SectionContext): HTMLElement {
  return el("a", { class: "button", href: link("import"), "data-key": "back" }, "Change the text");
}

/** Makes the system with its dependencies, and shows it. `known` is what the reader was told. */
async function importSystem(
  context: SectionContext,
  args: JsonObject,
  known: readonly string[],
): Promise<void> {
  const { act, go, tell } = context;
  const data = await act("import_system_from_markdown", args);
  if (!data) return;
  forgetTyped(draftOf(context));
  const fresh = textsOf(data, "warnings").filter((warning) => !known.includes(warning));
  const itemId = textOf(objectOf(data, "system"), "id");
  // A silent move keeps the message.
  go({ section: "systems", itemId }, { isSilent: fresh.length > 0 });
  if (fresh.length > 0) tell(`The project changed meanwhile. ${fresh.join(" ")}`);
}
