import type { DeclaredModel } from "../model/declaration.ts";
import type { AssistantSettings } from "./document.ts";

/** A setting that a model cannot take; `pointer` is a JSON pointer into the document. */
export interface UnfitSetting {
  readonly pointer: string;
  readonly message: string;
}

/** Finds the settings that a model cannot take. Contract: pure. */
export function checkSettings(
  { effort, temperature, toolChoice }: AssistantSettings,
  { id, can }: Pick<DeclaredModel, "id" | "can">,
): readonly UnfitSetting[] {
  const unfit: UnfitSetting[] = [];
  if (effort !== undefined && !can.efforts.includes(effort)) {
    const known = can.efforts.join(", ") || "none";
    const message = `is no effort of the model ${id}, which takes ${known}`;
    unfit.push({ pointer: "/settings/effort", message });
  }
  if (temperature !== undefined && !can.temperature) {
    const message = `is not taken by the model ${id}`;
    unfit.push({ pointer: "/settings/temperature", message });
  }
  const isForced = toolChoice !== undefined && toolChoice !== "auto" && toolChoice !== "none";
  if (isForced && !can.forcedTools) {
    const message = `cannot be forced on the model ${id}. Use auto or none`;
    unfit.push({ pointer: "/settings/toolChoice", message });
  }
  return unfit;
}
