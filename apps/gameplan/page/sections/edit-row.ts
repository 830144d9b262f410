import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { drawButton } from "../draw.ts";
import { drawEditForm, type EditField, hasDraft } from "../edit-form.ts";
import { numberOf, textOf } from "../read-json.ts";
import { queryOf } from "../route.ts";
import type { SectionContext } from "../section.ts";

/** A row that people edit by `edit_row`. */
interface EditedEntity {
  /** The kind of row, as the tools name it. */
  readonly entity: "idea_thread" | "idea_message" | "brainstorm" | "version_plan";
  /** The row as it is shown, with its id and its revision. */
  readonly row: JsonObject;
}

interface RowForm extends EditedEntity {
  readonly fields: readonly EditField[];
  /** Lists that people write as lines of text, by field. */
  readonly texts?: Readonly<Record<string, string>>;
  /** The arguments of a change. Default: the changed fields. */
  readonly toArguments?: (changed: Readonly<Record<string, string>>) => JsonObject;
}

function draftOf({ entity, row }: EditedEntity): string {
  return `${entity}/${textOf(row, "id")}`;
}

/** Tells whether the reader edits a row: the address says so, or they typed something about it. */
export function isEdited({ route }: SectionContext, edited: EditedEntity): boolean {
  return queryOf(route, "edit") === textOf(edited.row, "id") || hasDraft(draftOf(edited));
}

/** A button that opens the form of a row. `name` names the row for screen readers. */
export function drawEditButton(
  { route, go }: SectionContext,
  { row }: Pick<EditedEntity, "row">,
  name = "",
): HTMLElement {
  const { section, itemId = "", query } = route;
  const id = textOf(row, "id");
  return drawButton("Edit", async () => go({ section, itemId, query: { ...query, edit: id } }), {
    "data-key": `edit:${id}`,
    ...(name && { "aria-label": `Edit: ${name}` }),
  });
}

/** Draws the fields of a row to edit. One call saves those that differ. */
export function drawRowForm(context: SectionContext, form: RowForm): HTMLElement {
  const { route, go } = context;
  const { section, itemId = "" } = route;
  const { edit: _, ...query } = route.query ?? {};
  return drawEditForm({
    id: draftOf(form),
    row: { ...form.row, ...form.texts },
    fields: form.fields,
    save: (changed) => saveRow(context, form, form.toArguments?.(changed) ?? changed),
    close: () => go({ section, itemId, query }),
  });
}

/** Saves fields of a row as the reader saw it: a later change refuses the call. */
export async function saveRow(
  { act }: SectionContext,
  { entity, row }: EditedEntity,
  fields: JsonObject,
): Promise<boolean> {
  const [id, revision] = [textOf(row, "id"), numberOf(row, "revision")];
  return (await act("edit_row", { entity, id, revision, ...fields })) !== undefined;
}
