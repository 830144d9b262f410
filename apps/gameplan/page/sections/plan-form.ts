import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { ok, type Result } from "../../../../src/protocol/outcome/result.ts";
import type { CallFailure } from "../api.ts";
import type { EditField } from "../edit-form.ts";
import { readWhole } from "../pages.ts";
import { listOf, textOf } from "../read-json.ts";
import type { SectionContext } from "../section.ts";
import { drawRowForm } from "./edit-row.ts";
import { type NamedSystem, readScope, sayProblem, writeScope } from "./plan-scope.ts";
import { nameField, textField } from "./system-fields.ts";

/** Reads the systems of a project, as plans name them. */
export async function readNamedSystems({
  api,
  projectId,
}: Pick<SectionContext, "api" | "projectId">): Promise<
  Result<readonly NamedSystem[], CallFailure>
> {
  const read = await readWhole(api, { tool: "list_game_systems", args: { projectId } });
  return read.ok ? ok(read.value.items.map((system) => toNamed(system, "id"))) : read;
}

function toNamed(system: JsonObject, idKey: string): NamedSystem {
  return {
    id: textOf(system, idKey),
    name: textOf(system, "name"),
    slug: textOf(system, "systemSlug"),
  };
}

/**
 * The fields of a plan. Its systems are lines of names, to type or to paste. `written` is the text
 * of the plan as it is, which may name a system of the bin.
 */
export function planFields(
  name: EditField,
  systems: readonly NamedSystem[],
  written = "",
): readonly EditField[] {
  const label = "Systems, one name a line. A line that ends with a colon begins a phase.";
  return [
    { name: "version", label: "Version", kind: "line", check: checkVersion },
    name,
    textField("goal", "Goal"),
    {
      name: "systems",
      label,
      kind: "text",
      check: (text) =>
        written !== "" && text === written ? undefined : sayProblem(readScope(text, systems)),
    },
  ];
}

function checkVersion(text: string): string | undefined {
  return /^[A-Za-z0-9][A-Za-z0-9.+_-]{0,31}$/.test(text)
    ? undefined
    : "A version has letters, digits and dots, for example 0.1.";
}

/** Draws a draft to edit. Its phases change as a whole. */
export async function drawPlanForm(
  context: SectionContext,
  plan: JsonObject,
): Promise<Result<HTMLElement, CallFailure>> {
  const read = await readNamedSystems(context);
  if (!read.ok) return read;
  const phases = listOf(plan, "phases").map((phase) => ({
    name: textOf(phase, "name"),
    systems: listOf(phase, "systems").map((system) => toNamed(system, "systemId")),
  }));
  const systems = writeScope(phases, read.value);
  return ok(
    drawRowForm(context, {
      entity: "version_plan",
      row: plan,
      fields: planFields(nameField(), read.value, systems),
      texts: { systems },
      toArguments: ({ systems: lines, ...changed }) => ({
        ...changed,
        ...(lines !== undefined && { phases: phasesIn(readScope(lines, read.value)) }),
      }),
    }),
  );
}

function phasesIn({ phases, systemIds }: ReturnType<typeof readScope>) {
  return phases ?? [{ name: "Phase 1", systemIds: [...systemIds] }];
}
