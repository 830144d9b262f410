import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawHeading } from "../draw.ts";
import { drawEditForm, type EditField } from "../edit-form.ts";
import { objectOf, textOf } from "../read-json.ts";
import type { ShowSection } from "../section.ts";
import { nameField, textField } from "./system-fields.ts";

/** Stands for the id in the address of a thread or brainstorm that is being added. */
export const NEW = "new";

const MOST_NOTES = 24_000;

/** Draws the form of a new thread. Its first message may stay empty. */
export const showNewThread: ShowSection = (context) =>
  showForm(context, {
    heading: "Start a thread",
    submit: "Start the thread",
    tool: "create_idea_thread",
    kind: "thread",
    fields: [{ ...nameField("Title"), name: "title" }, textField("text", "First message")],
  });

/** Draws the form of a new brainstorm. */
export const showNewBrainstorm: ShowSection = (context) =>
  showForm(context, {
    heading: "Add a brainstorm",
    submit: "Add the brainstorm",
    tool: "create_brainstorm",
    kind: "brainstorm",
    fields: [
      { ...nameField("Title"), name: "title" },
      { name: "content", label: "Notes", kind: "text", most: MOST_NOTES, check: checkNotes },
    ],
  });

function checkNotes(text: string): string | undefined {
  return /\S/.test(text) ? undefined : "Write the notes of the session first.";
}

interface NewIdea {
  readonly heading: string;
  readonly submit: string;
  readonly tool: string;
  readonly kind: "thread" | "brainstorm";
  readonly fields: readonly EditField[];
}

async function showForm(
  { projectId, act, go, link }: Parameters<ShowSection>[0],
  { heading, submit, tool, kind, fields }: NewIdea,
): ReturnType<ShowSection> {
  let made = "";
  const form = drawEditForm({
    id: `${kind}/new/${projectId}`,
    row: {},
    fields,
    submit,
    async save(typed) {
      const data = await act(tool, { projectId, ...typed });
      made = data ? textOf(objectOf(data, kind), "id") : "";
      return data !== undefined;
    },
    close: () => go({ section: "ideas", ...(made && { itemId: `${kind}:${made}` }) }),
  });
  const up = el("a", { class: "up", href: link("ideas"), "data-key": "up" }, "All ideas");
  return ok([up, drawHeading(heading), form]);
}
