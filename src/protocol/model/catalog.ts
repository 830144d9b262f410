import { fail, ok, type Result } from "../outcome/result.ts";
import { checkDeclaration } from "./check-declaration.ts";
import type { DeployedModel, ModelDeclaration } from "./declaration.ts";
import { declareModel } from "./declare-model.ts";
import { parseModelList } from "./model-list.ts";

/** The models of a deployment. */
export interface ModelCatalog {
  /** Models that requests may name; the first is the default. */
  readonly offered: readonly [DeployedModel, ...DeployedModel[]];
  /** The offered models and all their fallbacks, by id. */
  readonly models: ReadonlyMap<string, DeployedModel>;
}

const LIST_HELP = "Set it to models separated by commas, as in docs/providers.md";

/**
 * Builds the catalog from what the code declares and what the setting `MODELS` lists. Without the
 * setting, the code's models are offered in their order.
 * Contract: pure. Fails: one sentence for each problem, for the operator.
 */
export function createModelCatalog(
  declared: readonly ModelDeclaration[],
  listText: string | undefined,
): Result<ModelCatalog, readonly string[]> {
  const listed = listText === undefined ? declared : parseModelList(listText, declared);
  if (!listed) return fail([`MODELS is not valid. ${LIST_HELP}`]);
  const all = [...declared, ...listed.filter((model) => !declared.includes(model))];
  const known = new Map(all.map((model) => [model.id, model]));
  const isRepeated = known.size < all.length || new Set(listed).size < listed.length;
  const problems = [
    ...(isRepeated ? ["A model is listed or declared twice. Give each model its own id"] : []),
    ...all.flatMap(checkDeclaration),
  ];
  if (problems.length === 0) problems.push(...all.flatMap((model) => checkFallback(model, known)));
  if (problems.length > 0) return fail([...new Set(problems)]);
  const completed = new Map(all.map((model) => [model, complete(model, known)]));
  const offered = listed.flatMap((model) => completed.get(model) ?? []);
  const [first, ...others] = offered;
  if (!first) return fail([`MODELS is missing. ${LIST_HELP}`]);
  const fallbacks = offered.flatMap(({ fallback }) => fallback);
  const reachable = new Set([...offered.map(({ id }) => id), ...fallbacks]);
  const used = [...completed.values()].filter(({ id }) => reachable.has(id));
  const models = new Map(used.map((model) => [model.id, model]));
  return ok({ offered: [first, ...others], models });
}

type Known = ReadonlyMap<string, ModelDeclaration>;

function complete(declaration: ModelDeclaration, known: Known): DeployedModel {
  const fallback = fallbacksOf(declaration, known).map(({ id }) => id);
  return declareModel(declaration, fallback);
}

/** Lists every model that may answer in place of this one, each once, in the order of asking. */
function fallbacksOf(
  { fallback = [] }: ModelDeclaration,
  known: Known,
  found: ModelDeclaration[] = [],
): readonly ModelDeclaration[] {
  for (const id of fallback) {
    const model = known.get(id);
    if (!model || found.includes(model)) continue;
    found.push(model);
    fallbacksOf(model, known, found);
  }
  return found;
}

/**
 * A budget of money covers a model only together with its fallbacks, so their prices belong
 * together.
 */
function checkFallback(model: ModelDeclaration, known: Known): readonly string[] {
  const { id, prices, fallback = [] } = model;
  const where = `The model ${JSON.stringify(id)}`;
  const missing = fallback.filter((other) => !known.has(other));
  if (missing.length > 0) {
    return missing.map((other) => `${where} names the fallback ${other}, which nothing declares`);
  }
  const others = fallbacksOf(model, known);
  if (others.includes(model)) return [`${where} is among its own fallbacks. Remove the circle`];
  return others.flatMap((other) => {
    const theirs = other.prices;
    if (prices?.currency === theirs?.currency) return [];
    if (prices && theirs) {
      return [
        `${where} has prices in ${prices.currency}, its fallback ${other.id} in another currency`,
      ];
    }
    return [`${where} or its fallback ${other.id} has no prices. Give prices to both or to none`];
  });
}
