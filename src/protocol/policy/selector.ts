import * as v from "valibot";
import {
  SIDE_EFFECT_CLASSES,
  TOOL_EFFECTS,
  type SideEffectClass,
  type ToolEffect,
} from "../tool/effect.ts";
import { listOf, name } from "./fields.ts";

/** Which tools a rule is about. Each absent field stands for every tool. */
export const selectorFields = {
  tools: v.optional(listOf(name)),
  classes: v.optional(listOf(v.picklist(SIDE_EFFECT_CLASSES))),
  effects: v.optional(listOf(v.picklist(TOOL_EFFECTS))),
};

const selector = v.strictObject(selectorFields);
export type ToolSelector = v.InferOutput<typeof selector>;

/** A tool as a selector sees it. */
export interface SelectedTool {
  readonly id: string;
  readonly effect: ToolEffect;
  readonly sideEffectClass: SideEffectClass;
}

/** Tells whether a rule is about a tool. Contract: pure. */
export function selects({ tools, classes, effects }: ToolSelector, tool: SelectedTool): boolean {
  return (
    (tools?.includes(tool.id) ?? true) &&
    (classes?.includes(tool.sideEffectClass) ?? true) &&
    (effects?.includes(tool.effect) ?? true)
  );
}
