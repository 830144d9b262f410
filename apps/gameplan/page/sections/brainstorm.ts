import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { fail, ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import {
  drawButton,
  drawEmpty,
  drawGroup,
  drawHeading,
  drawMarkdown,
  formatMade,
  inWords,
} from "../draw.ts";
import type { EditField } from "../edit-form.ts";
import { listOf, numberOf, objectOf, textOf, textsOf } from "../read-json.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import {
  checkResults,
  checkTags,
  readResults,
  readTags,
  writeResults,
} from "./brainstorm-lists.ts";
import { drawEditButton, drawRowForm, isEdited } from "./edit-row.ts";
import { nameField } from "./system-fields.ts";

/** Shows a brainstorm with its results and notes, or its form. */
export async function showBrainstorm(
  context: SectionContext,
  brainstormId: string,
): ReturnType<ShowSection> {
  const { api, link, owns } = context;
  const read = await api.read("get_brainstorm", { brainstormId });
  const up = el("a", { class: "up", href: link("ideas"), "data-key": "up" }, "All ideas");
  if (!read.ok) {
    if (read.failure.code !== "not_found") return fail(read.failure);
    return ok([
      up,
      drawEmpty("This brainstorm is not in the project any more.", "It may be in the bin."),
    ]);
  }
  const session = objectOf(read.value, "brainstorm");
  if (!owns(session)) return ok([]);
  const isForm = isEdited(context, { entity: "brainstorm", row: session });
  return ok([
    up,
    drawHeading(textOf(session, "title"), ...textsOf(session, "tags")),
    el("p", { class: "note" }, formatMade(session)),
    ...(isForm ? [drawForm(context, session)] : drawTexts(context, session)),
  ]);
}

function drawTexts(context: SectionContext, session: JsonObject): HTMLElement[] {
  const { act, go } = context;
  const args = { brainstormId: textOf(session, "id"), revision: numberOf(session, "revision") };
  const remove = drawButton("Move to bin", async () => {
    if (await act("delete_brainstorm", args)) go({ section: "ideas" });
  });
  const outputs = listOf(session, "outputs").map((output) =>
    el(
      "li",
      {},
      el("strong", {}, inWords(textOf(output, "kind"))),
      drawMarkdown(textOf(output, "text")),
    ),
  );
  const edit = drawEditButton(context, { row: session });
  return [
    el("div", { class: "actions" }, edit, remove),
    ...(outputs.length > 0 ? drawGroup("Results", el("ul", { class: "log" }, ...outputs)) : []),
    ...drawGroup("Notes", drawMarkdown(withoutIds(textOf(session, "content")))),
  ];
}

const MOST_NOTES = 60_000;

const FIELDS: readonly EditField[] = [
  { ...nameField("Title"), name: "title" },
  { name: "tags", label: "Tags, with commas between them", kind: "line", check: checkTags },
  {
    name: "outputs",
    label:
      'Results, one a line, for example "Decision: no jumping". Two spaces go on with a result.',
    kind: "text",
    check: checkResults,
  },
  { name: "content", label: "Notes", kind: "text", most: MOST_NOTES },
];

function drawForm(context: SectionContext, session: JsonObject): HTMLElement {
  return drawRowForm(context, {
    entity: "brainstorm",
    row: session,
    fields: FIELDS,
    texts: {
      tags: textsOf(session, "tags").join(", "),
      outputs: writeResults(listOf(session, "outputs")),
    },
    toArguments: ({ tags, outputs, ...changed }) => ({
      ...changed,
      ...(tags !== undefined && { tags: readTags(tags) }),
      ...(outputs !== undefined && { outputs: readResults(outputs) }),
    }),
  });
}

/** Notes that an earlier release made of threads name each author by an id. */
function withoutIds(notes: string): string {
  return notes.replaceAll(/^\*\*user:([^*\s]+):\*\*/gm, "**$1:**");
}
