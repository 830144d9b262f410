import { ok } from "../../../../src/protocol/outcome/result.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawHeading } from "../draw.ts";
import { drawEditForm } from "../edit-form.ts";
import { objectOf, textOf } from "../read-json.ts";
import type { ShowSection } from "../section.ts";
import { planFields, readNamedSystems } from "./plan-form.ts";
import { readScope } from "./plan-scope.ts";
import { nameField } from "./system-fields.ts";

/** Draws the form of a new plan. A plan without a name is called by its version. */
export const showNewPlan: ShowSection = async (context) => {
  const { projectId, act, go, link } = context;
  const read = await readNamedSystems(context);
  if (!read.ok) return read;
  const name = { ...nameField("Name, or nothing"), check: () => undefined };
  let made = "";
  const form = drawEditForm({
    id: `plan/new/${projectId}`,
    row: {},
    fields: planFields(name, read.value),
    submit: "Draft the plan",
    async save({ systems: lines = "", version = "", name: called = "", goal = "" }) {
      const { systemIds, phases } = readScope(lines, read.value);
      const data = await act("create_version_plan", {
        projectId,
        version,
        systemIds,
        ...(/\S/.test(called) && { name: called }),
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
