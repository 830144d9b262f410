import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import {
  drawButton,
  drawGroup,
  drawHeading,
  drawMarkdown,
  drawTag,
  formatMade,
  plural,
} from "../draw.ts";
import { drawEditForm, type EditField, hasDraft } from "../edit-form.ts";
import { numberOf, objectOf, textOf } from "../read-json.ts";
import { queryOf } from "../route.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import { drawNewProject } from "../new-project.ts";
import { drawMembers } from "./members.ts";
import { nameField, textField } from "./system-fields.ts";

const MOST_WORDS = 80;
const STATUSES = ["concept", "active", "paused", "archived"];

const FIELDS: readonly EditField[] = [
  nameField(),
  textField("description", "Description"),
  { name: "genre", label: "Genre", kind: "line", most: MOST_WORDS },
  { name: "platform", label: "Platform", kind: "line", most: MOST_WORDS },
  { name: "status", label: "Status", kind: "choice", choices: STATUSES },
];

/** The project itself: what people wrote about it, how much it has, and the way to another one. */
export const showProject: ShowSection = async (context) => {
  const { api, projectId, route } = context;
  const read = await api.read("get_project", { projectId });
  if (!read.ok) return read;
  const project = objectOf(read.value, "project");
  const isEdited = queryOf(route, "edit") !== "" || hasDraft(`project/${projectId}`);
  const counts = objectOf(read.value, "counts");
  return ok([
    drawHeading(textOf(project, "name"), drawTag(textOf(project, "status"))),
    el("p", { class: "note" }, formatMade(project)),
    ...(isEdited ? [drawEdit(context, project)] : drawTexts(context, project)),
    ...drawGroup("Contents", drawCounts(counts)),
    ...(await drawMembers(context)),
    ...drawGroup("Another project", ...drawNewProject(context)),
  ]);
};

function drawTexts({ act, go }: SectionContext, project: JsonObject): HTMLElement[] {
  const args = { projectId: textOf(project, "id"), revision: numberOf(project, "revision") };
  const edit = drawButton("Edit", async () => go({ section: "project", query: { edit: "1" } }));
  const remove = drawButton("Move to bin", async () => {
    if (await act("delete_project", args)) go({ section: "bin", projectId: "" });
  });
  const facts = ["genre", "platform"].map((key) => textOf(project, key)).filter(Boolean);
  const description = textOf(project, "description");
  return [
    el("div", { class: "actions" }, edit, remove),
    ...(facts.length > 0 ? [el("p", {}, facts.join(" · "))] : []),
    ...(description === "" ? [] : [drawMarkdown(description)]),
  ];
}

function drawEdit({ projectId, act, go }: SectionContext, row: JsonObject): HTMLElement {
  return drawEditForm({
    id: `project/${projectId}`,
    row,
    fields: FIELDS,
    async save(changed) {
      const args = { projectId, revision: numberOf(row, "revision"), ...changed };
      return (await act("update_project", args)) !== undefined;
    },
    close: () => go({ section: "project" }),
  });
}

const COUNTS = [
  ["systems", "system", "systems"],
  ["dependencies", "dependency", "dependencies"],
  ["draftPlans", "draft plan", "draft plans"],
  ["finalizedPlans", "finalized plan", "finalized plans"],
  ["openThreads", "open thread", "open threads"],
  ["brainstorms", "brainstorm", "brainstorms"],
  ["exports", "document", "documents"],
] as const;

function drawCounts(counts: JsonObject): HTMLElement {
  const known = COUNTS.flatMap(([key, one, many]) => {
    const count = numberOf(counts, key);
    return count === 0 ? [] : [plural(count, one, many)];
  });
  return el("p", {}, known.join(" · ") || "Nothing yet");
}
