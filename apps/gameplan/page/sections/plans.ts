import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { fail, ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import {
  drawButton,
  drawEmpty,
  drawGroup,
  drawHeading,
  drawMarkdown,
  drawRows,
  drawTag,
  formatMade,
  formatTime,
  plural,
} from "../draw.ts";
import { byText, drawChoices, filtersIn, type ListChoices, readOrdered } from "../list-tools.ts";
import { drawMore } from "../pages.ts";
import { listOf, numberOf, objectOf, textOf, textsOf } from "../read-json.ts";
import type { SectionContext, ShowSection } from "../section.ts";
import { drawEditButton, isEdited } from "./edit-row.ts";
import { showNewPlan } from "./new-plan.ts";
import { drawPlanForm } from "./plan-form.ts";

export const showPlans: ShowSection = (context) => {
  const { itemId } = context.route;
  if (itemId === undefined) return showList(context);
  return itemId === NEW ? showNewPlan(context) : showOne(context);
};

/** Stands for the id in the address of a plan that is being drafted. */
const NEW = "new";

const CHOICES: ListChoices = {
  filters: [{ name: "status", label: "Status", values: ["draft", "finalized"] }],
  orders: [
    { name: "", label: "Newest first" },
    { name: "version", label: "Version", compare: byText("version") },
    { name: "name", label: "Name", compare: byText("name") },
  ],
};

const showList: ShowSection = async (context) => {
  const { projectId, link, route } = context;
  const filters = filtersIn(route, CHOICES.filters);
  const list = { tool: "list_version_plans", args: { projectId, ...filters } };
  const read = await readOrdered(context, list, CHOICES);
  if (!read.ok) return read;
  const { items, total } = read.value;
  const isFiltered = Object.keys(filters).length > 0;
  const heading = drawHeading(
    "Version plans",
    el("a", { class: "button", href: link("plans", NEW) }, "Draft a plan"),
  );
  const tools =
    isFiltered || total > 1
      ? [el("div", { class: "tools" }, ...drawChoices(context, CHOICES))]
      : [];
  if (items.length === 0) {
    const empty = isFiltered
      ? drawEmpty("No plan matches.", "Show all of them.")
      : drawEmpty("This project has no version plan yet.", 'Say in the chat: "Plan version 0.1."');
    return ok([heading, ...tools, empty]);
  }
  const rows = items.map((plan) => ({
    href: link("plans", textOf(plan, "id")),
    name: nameOf(plan),
    facts: [drawTag(textOf(plan, "status")), plural(numberOf(plan, "systems"), "system")],
    text: textOf(plan, "goal"),
  }));
  return ok([heading, ...tools, drawRows("Version plans", rows), ...drawMore(context, read.value)]);
};

function nameOf(plan: JsonObject): string {
  const [version, name] = [textOf(plan, "version"), textOf(plan, "name")];
  return name === "" || name.includes(version) ? name || version : `${version}: ${name}`;
}

const showOne: ShowSection = async (context) => {
  const { api, route, link, owns } = context;
  const planId = route.itemId ?? "";
  const read = await api.read("get_version_plan", { planId });
  const up = el("a", { class: "up", href: link("plans"), "data-key": "up" }, "All plans");
  if (!read.ok) {
    if (read.failure.code !== "not_found") return fail(read.failure);
    return ok([
      up,
      drawEmpty("This plan is not in the project any more.", "It may be in the bin."),
    ]);
  }
  const plan = objectOf(read.value, "plan");
  if (!owns(plan)) return ok([]);
  const isFinal = textOf(plan, "status") === "finalized";
  const isForm = !isFinal && isEdited(context, { entity: "version_plan", row: plan });
  const form = isForm ? await drawPlanForm(context, plan) : undefined;
  if (form?.ok === false) return form;
  return ok([
    up,
    drawHeading(nameOf(plan), drawTag(textOf(plan, "status"))),
    el("p", { class: "note" }, formatMade(plan)),
    ...(isFinal ? [el("p", {}, `Finalized ${formatTime(textOf(plan, "finalizedAt"))}.`)] : []),
    ...drawScope(objectOf(read.value, "scope")),
    ...(form ? [form.value] : drawTexts(context, plan)),
  ]);
};

function drawTexts(context: SectionContext, plan: JsonObject): HTMLElement[] {
  const isFinal = textOf(plan, "status") === "finalized";
  const goal = textOf(plan, "goal");
  const phases = listOf(plan, "phases").map((phase) => drawPhase(context, phase));
  return [
    ...(goal === "" ? [] : [drawMarkdown(goal)]),
    el("ol", { class: "phases", "aria-label": "Phases" }, ...phases),
    isFinal ? drawCopy(context, plan) : drawDraftActions(context, plan),
  ];
}

function drawDraftActions(context: SectionContext, plan: JsonObject): HTMLElement {
  const { act, go } = context;
  const args = { planId: textOf(plan, "id"), revision: numberOf(plan, "revision") };
  const remove = drawButton("Move to bin", async () => {
    if (await act("delete_version_plan", args)) go({ section: "plans" });
  });
  const lock = drawButton("Finalize", () => act("finalize_version_plan", args));
  return el("div", { class: "actions" }, drawEditButton(context, { row: plan }), lock, remove);
}

function drawPhase({ link }: SectionContext, phase: JsonObject): HTMLElement {
  const systems = listOf(phase, "systems").map((system) => {
    const href = link("systems", textOf(system, "systemId"));
    const name = textOf(system, "name");
    const exists = system["exists"] !== false;
    const shown = exists ? el("a", { href, "data-key": href }, name) : `${name} (in the bin)`;
    return el("li", {}, shown);
  });
  const [number, name] = [`Phase ${numberOf(phase, "number")}`, textOf(phase, "name")];
  // A phase that nobody named is called by its number.
  const lead = name === number ? [] : [el("span", { class: "phase-number" }, number)];
  return el("li", {}, ...lead, el("h3", {}, name), el("ul", {}, ...systems));
}

function drawScope(scope: JsonObject): HTMLElement[] {
  if (scope["valid"] === true) {
    return [
      el("p", { class: "good" }, "Complete: the plan has everything that its systems require."),
    ];
  }
  const missing = listOf(scope, "missing").map((system) =>
    el(
      "li",
      {},
      `${textOf(system, "name")}, required by ${textsOf(system, "requiredBy").join(", ")}`,
    ),
  );
  if (missing.length === 0) return [];
  return drawGroup("The plan lacks", el("ul", { class: "missing" }, ...missing));
}

/** A finalized plan cannot change; the way on is a copy. */
function drawCopy({ act, go }: SectionContext, plan: JsonObject): HTMLElement {
  const id = "copy-version";
  const input = el("input", { id, "data-key": id, required: "", maxlength: "32" });
  const button = el("button", { class: "primary" }, "Copy as draft");
  const form = el("form", { class: "row" }, input, button);
  const copy = async (): Promise<void> => {
    const args = { planId: textOf(plan, "id"), version: input.value.trim() };
    const made = await act("copy_version_plan", args);
    if (made) go({ section: "plans", itemId: textOf(objectOf(made, "plan"), "id") });
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    void copy();
  });
  const label = el("label", { for: id }, "Nobody can change a finalized plan. Copy it as version");
  return el("div", { class: "actions-block" }, label, form);
}
