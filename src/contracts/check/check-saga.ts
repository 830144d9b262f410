import { hasCode } from "../define/author-code.ts";
import { SIDE_EFFECT_CLASSES, TOOL_EFFECTS } from "../../protocol/tool/effect.ts";
import { isCompensable } from "../../protocol/tool/contract-document.ts";
import type { AnyToolContract } from "../define/definition.ts";

/**
 * Tells why the steps of a saga cannot be made in their order: what can be undone comes first, then
 * at most one step that cannot, then steps that are repeated until they succeed. Reads stand
 * anywhere. Each registered version of a tool counts, because policy may select any.
 */
export function checkSaga(
  saga: AnyToolContract,
  contracts: readonly AnyToolContract[],
): string | undefined {
  const reads = hasCode(saga, "preview") || hasCode(saga, "checkState");
  if (saga.saga && reads && saga.workspace === undefined) {
    return "preview and checkState read a workspace; name it, or add a step that has one";
  }
  const circle = saga.saga && findCircle(contracts, [saga.name]);
  if (circle) return `its steps go in a circle: ${circle.join(" → ")}; name other tools`;
  let pivot: string | undefined;
  for (const [index, { tool }] of (saga.saga?.steps ?? []).entries()) {
    const step = `step ${index + 1}, ${tool},`;
    const versions = contracts.filter(({ name }) => name === tool);
    if (versions.length === 0) return `${step} is not registered; add its contract to the list`;
    for (const version of versions) {
      const reason = checkStep(saga, version, pivot);
      if (reason !== undefined) return `${step} ${reason}`;
    }
    if (versions.some(isPivot)) pivot = tool;
  }
  return undefined;
}

/** The names of the sagas from the first one back to itself; undefined when none leads back. */
function findCircle(
  contracts: readonly AnyToolContract[],
  path: readonly string[],
): readonly string[] | undefined {
  const last = contracts.filter(({ name }) => name === path.at(-1));
  for (const { tool } of last.flatMap(({ saga }) => saga?.steps ?? [])) {
    if (tool === path[0]) return [...path, tool];
    const circle = path.includes(tool) ? undefined : findCircle(contracts, [...path, tool]);
    if (circle) return circle;
  }
  return undefined;
}

/** Tells why one version of a tool cannot be a step at its place. */
function checkStep(
  saga: AnyToolContract,
  tool: AnyToolContract,
  pivot: string | undefined,
): string | undefined {
  if (tool.saga) return "is a saga itself; name its steps instead";
  const { sideEffectClass, effect, transactional } = tool;
  const { semantics } = transactional;
  const classes = SIDE_EFFECT_CLASSES;
  // Threat: people and policy judge a saga by its class, and its steps do worse.
  if (classes.indexOf(saga.sideEffectClass) < classes.indexOf(sideEffectClass)) {
    return `has the class ${sideEffectClass}; give the saga this class or a higher one`;
  }
  if (TOOL_EFFECTS.indexOf(saga.effect) < TOOL_EFFECTS.indexOf(effect)) {
    return `has the effect ${effect}; give the saga this effect`;
  }
  if (semantics === "read_only") return undefined;
  if (isCompensable(semantics) || semantics === "irreversible_pivot") {
    return pivot === undefined
      ? undefined
      : `comes after ${pivot}, which cannot be undone; put it before`;
  }
  return pivot === undefined
    ? `is ${semantics}, which cannot be undone; put it after an irreversible_pivot`
    : undefined;
}

function isPivot({ transactional }: AnyToolContract): boolean {
  return transactional.semantics === "irreversible_pivot";
}
