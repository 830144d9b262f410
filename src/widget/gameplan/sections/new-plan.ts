import { ok } from "../../../protocol/outcome/result.ts";
import { el } from "../../dom.ts";
import { drawHeading } from "../draw.ts";
import { drawEditForm } from "../edit-form.ts";
import { readWhole } from "../pages.ts";
import { objectOf, textOf } from "../read-json.ts";
import type { ShowSection } from "../section.ts";
import { type PlanScope, readScope } from "./plan-scope.ts";
import { nameField, textField } from "./system-fields.ts";

/** Draws the form of a new plan. Its systems are lines of names, to type or to paste. */
export const showNewPlan: ShowSection = async ({ api, projectId, act, go, link }) => {
  const read = await readWhole(api, { tool: "list_game_systems", args: { projectId } });
  if (!read.ok) return read;
  const systems = read.value.items.map((system) => ({
    id: textOf(system, "id"),
    name: textOf(system, "name"),
  }));
  let made = "";
  const form = drawEditForm({
    id: `plan/new/${projectId}`,
    row: {},
    fields: [
      { name: "version", label: "Version", kind: "line", check: checkVersion },
      { ...nameField("Name, or nothing"), check: () => undefined },
      textField("goal", "Goal"),
      {
        name: "systems",
        label: "Systems, one name a line. A line that ends with a colon begins a phase.",
        kind: "text",
        check: (text) => sayProblem(readScope(text, systems)),
      },
    ],
    submit: "Draft the plan",
    async save({ systems: lines = "", version = "", name = "", goal = "" }) {
      const { systemIds, phases } = readScope(lines, systems);
      const data = await act("create_version_plan", {
        projectId,
        version,
        systemIds,
        ...(/\S/.test(name) && { name }),
        ...(goal !== "" && { goal }),
        ...(phases && { phases }),
      });
      made = data ? textOf(objectOf(data, "plan"), "id") : "";
      return data !== undefined;
    },
    close: () => go({ section: "plans", ...(made && { itemId: made }) }),
  });
  const up = el("a", { class: "up", href: link("plans"), "data-key": "up" }, "All plans");
  return ok([up, drawHeading("Draft a version plan"), form]);
};

function checkVersion(text: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,31}$/.test(text)
    ? undefined
    : "A version has letters, digits and dots, for example 0.1.";
}

function sayProblem({ systemIds, unknown }: PlanScope): string | undefined {
  if (unknown.length > 0) return `No system of this project is called ${unknown.join(", ")}.`;
  return systemIds.length === 0 ? "Write the name of at least one system." : undefined;
}
