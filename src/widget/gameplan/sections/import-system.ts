import { el } from "../../dom.ts";
import { drawButton } from "../draw.ts";
import { objectOf, textOf, textsOf } from "../read-json.ts";
import type { SectionContext } from "../section.ts";

/** Longest document that the importer takes. Unit: characters. */
const MOST_CHARACTERS = 24_000;
const MOST_NAME_CHARACTERS = 200;

/** A button that makes a system of a Markdown file of the reader. */
export function drawImport(context: SectionContext): readonly Node[] {
  const accept = ".md,.markdown,.txt,text/markdown,text/plain";
  const input = el("input", { type: "file", accept, hidden: "", "aria-label": "Markdown file" });
  input.addEventListener("change", () => {
    const [file] = input.files ?? [];
    // The same file can be chosen again after it was corrected.
    input.value = "";
    if (file) void importFile(context, file);
  });
  const button = drawButton("Import Markdown", async () => input.click());
  return [button, input];
}

async function importFile({ projectId, act, go, tell }: SectionContext, file: File) {
  // A character has at most three bytes for each of its UTF-16 units.
  const markdown = file.size > 3 * MOST_CHARACTERS ? undefined : await readText(file);
  if (markdown === undefined || markdown.length > MOST_CHARACTERS) {
    const limit = MOST_CHARACTERS.toLocaleString();
    return tell(`"${file.name}" was not imported. Choose a text of at most ${limit} characters.`);
  }
  const fileName = file.name.slice(0, MOST_NAME_CHARACTERS).toWellFormed();
  const data = await act("import_system_from_markdown", { projectId, markdown, fileName });
  if (!data) return;
  const system = objectOf(data, "system");
  const warnings = textsOf(data, "warnings");
  if (warnings.length === 0) return go({ section: "systems", itemId: textOf(system, "id") });
  tell(`"${textOf(system, "name")}" was imported. ${warnings.join(" ")}`);
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
