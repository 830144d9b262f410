import { isDelegate } from "../identity/principal.ts";
import type { DataClassification } from "../tool/data-class.ts";
import type { ToolSpec } from "../tool/spec.ts";
import type { Caller } from "./callers.ts";
import type { ToolPolicy } from "./document.ts";

type DataPolicy = Pick<ToolPolicy, "dataClasses" | "regions">;
type DataRule = NonNullable<ToolPolicy["dataClasses"][DataClassification]>;

/** The data that a call may move. */
export interface MovedData extends Pick<ToolSpec, "dataClass" | "destinations"> {
  /** Classes of what the model had been shown when it proposed the call. */
  readonly shownData: readonly DataClassification[];
}

/**
 * Tells whether the policy lets a call happen: its own data may go to everybody who is shown what
 * it returns, and all data that it may carry may go where it reaches. Contract: pure.
 */
export function mayMove(
  policy: DataPolicy,
  { dataClass, destinations, shownData }: MovedData,
  caller: Caller,
): boolean {
  const maySend = (carried: DataClassification): boolean => {
    const { upstreams } = dataRuleOf(policy, carried) ?? {};
    return upstreams === undefined || destinations.every((name) => upstreams.includes(name));
  };
  return mayShow(policy, dataClass, caller) && [dataClass, ...shownData].every(maySend);
}

/**
 * Tells whether a run may show data of a class: to each model that may answer, under its assistant
 * and to its caller. Threat: a fallback answers that may not see the data; and an agent whose role
 * is its own shows the data to its person.
 */
export function mayShow(
  policy: DataPolicy,
  dataClass: DataClassification,
  { models: answering, assistantId, ...caller }: Caller,
): boolean {
  const { models, assistants, roles } = dataRuleOf(policy, dataClass) ?? {};
  return (
    (models === undefined || answering.every((id) => models.includes(id))) &&
    (assistants === undefined || assistantId === undefined || assistants.includes(assistantId)) &&
    (roles === undefined ||
      (!isDelegate(caller) && roles.some((role) => caller.roles.includes(role))))
  );
}

/**
 * Reads the limits of a class, with its regions written out as the models and services in them.
 * Threat: a model or a service that nobody placed; it lies in no region.
 * Contract: pure; undefined without limits.
 */
export function dataRuleOf(
  { dataClasses, regions }: DataPolicy,
  dataClass: DataClassification,
): DataRule | undefined {
  const rule = dataClasses[dataClass];
  if (!rule?.regions) return rule;
  const places = rule.regions.flatMap(
    (id) => (Object.hasOwn(regions, id) ? regions[id] : []) ?? [],
  );
  const within = (kind: "models" | "upstreams"): string[] => {
    const there = places.flatMap((place) => place[kind]);
    return rule[kind]?.filter((one) => there.includes(one)) ?? there;
  };
  return { ...rule, models: within("models"), upstreams: within("upstreams") };
}
