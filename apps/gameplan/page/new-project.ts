import { el } from "../../../src/widget/dom.ts";
import { drawButton } from "./draw.ts";
import { drawEditForm } from "./edit-form.ts";
import { objectOf, textOf } from "./read-json.ts";
import type { SectionContext } from "./section.ts";
import { nameField } from "./sections/system-fields.ts";

/** Ways to make a project: a name, or the example. They work without the chat. */
export function drawNewProject({
  act,
  go,
  makeExample,
}: Pick<SectionContext, "act" | "go" | "makeExample">): HTMLElement[] {
  let made = "";
  const form = drawEditForm({
    id: "project/new",
    row: {},
    fields: [nameField("Name of a new project")],
    submit: "Create the project",
    isStanding: true,
    async save(changed) {
      const data = await act("create_project", changed);
      made = data ? textOf(objectOf(data, "project"), "id") : "";
      return data !== undefined;
    },
    close: () => {
      if (made) go({ section: "systems", projectId: made });
    },
  });
  return [form, el("p", { class: "actions" }, drawButton("Make an example project", makeExample))];
}
