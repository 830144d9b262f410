import {
  addMeasures,
  readSeries,
  seriesOf,
  type DailySpending,
  type MeasuredRun,
  type Measures,
} from "../../protocol/metric/measures.ts";
import { costOf } from "../../protocol/model/prices.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import type { MeasuredCall } from "./measure-calls.ts";

/** Money of one currency, ISO 4217, in units of the currency. */
export interface Money {
  readonly currency: string;
  readonly amount: number;
}

/** What the runs of one assistant used of one model on one day. Units: tokens. */
export interface ModelSpent {
  /** Absent: runs of no assistant. */
  readonly assistantId?: string;
  readonly model: string;
  readonly runs: number;
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  readonly cost: readonly Money[];
  /** Tokens, input and output, of a model whose declaration has no prices. */
  readonly unpricedTokens: number;
}

/** What the runs of one assistant used of one version of a tool on one day. */
export interface ToolSpent {
  readonly assistantId?: string;
  readonly toolId: string;
  readonly version: string;
  readonly calls: number;
  readonly cost: readonly Money[];
}

export interface DaySpent {
  readonly day: string;
  readonly cost: readonly Money[];
  readonly models: readonly ModelSpent[];
  readonly tools: readonly ToolSpent[];
}

/** A counter of money is named after its currency. Unit: millionths. */
const COST = "cost_";

/** Counts what a run used, by its assistant and by model and tool. Contract: pure; linear. */
export function measureSpending(run: MeasuredRun, calls: readonly MeasuredCall[]): Measures {
  const { assistantId = "", usedByOthers, currencyOf } = run;
  const models = [[run.model, ownUsage(run)] as const, ...Object.entries(usedByOthers)];
  const ofModels = models
    .filter(([, { inputTokens, outputTokens }]) => inputTokens + outputTokens > 0)
    .map(([model, usage]) => ({
      [seriesOf("model", assistantId, model)]: countUsage(run, model, usage),
    }));
  const ofTools = calls.map(({ tool, version, counts }) => ({
    [seriesOf("tool", assistantId, tool, version)]: {
      calls: 1,
      ...countCost(currencyOf(tool), counts["cost_micros"]),
    },
  }));
  return addMeasures([...ofModels, ...ofTools]);
}

/** The rest of the usage of all models. A call that a crash cut off may be in no sum. */
function ownUsage({ usage, usedByOthers }: MeasuredRun): Usage {
  const others = Object.values(usedByOthers);
  const left = (name: keyof Usage): number =>
    others.reduce((rest, used) => Math.max(0, rest - (used[name] ?? 0)), usage[name] ?? 0);
  return {
    inputTokens: left("inputTokens"),
    outputTokens: left("outputTokens"),
    cachedInputTokens: left("cachedInputTokens"),
    cacheWriteTokens: left("cacheWriteTokens"),
    reasoningTokens: left("reasoningTokens"),
  };
}

type Labels = readonly string[];
type Counts = Readonly<Record<string, number>>;

function countUsage({ pricesOf }: MeasuredRun, model: string, usage: Usage): Counts {
  const { inputTokens, outputTokens, cachedInputTokens = 0, reasoningTokens = 0 } = usage;
  const prices = pricesOf(model);
  return {
    runs: 1,
    input: inputTokens,
    output: outputTokens,
    ...(cachedInputTokens > 0 && { cached_input: cachedInputTokens }),
    ...(reasoningTokens > 0 && { reasoning: reasoningTokens }),
    ...(prices
      ? countCost(prices.currency, costOf(prices, usage))
      : { unpriced: inputTokens + outputTokens }),
  };
}

function countCost(currency: string | undefined, micros: number | undefined): Counts {
  return currency === undefined || micros === undefined ? {} : { [COST + currency]: micros };
}

/** Tells a day in words of the API. */
export function describeDay({ day, spent }: DailySpending): DaySpent {
  const models: ModelSpent[] = [];
  const tools: ToolSpent[] = [];
  for (const [series, counts] of Object.entries(spent)) {
    const { group, labels } = readSeries(series);
    if (group === "model") models.push(describeModel(labels, counts));
    else tools.push(describeTool(labels, counts));
  }
  return { day, cost: moneyOf(Object.values(spent)), models, tools };
}

function describeModel([assistantId = "", model = ""]: Labels, counts: Counts): ModelSpent {
  return {
    ...(assistantId !== "" && { assistantId }),
    model,
    runs: counts["runs"] ?? 0,
    inputTokens: counts["input"] ?? 0,
    cachedInputTokens: counts["cached_input"] ?? 0,
    outputTokens: counts["output"] ?? 0,
    reasoningTokens: counts["reasoning"] ?? 0,
    cost: moneyOf([counts]),
    unpricedTokens: counts["unpriced"] ?? 0,
  };
}

function describeTool(
  [assistantId = "", toolId = "", version = ""]: Labels,
  counts: Counts,
): ToolSpent {
  return {
    ...(assistantId !== "" && { assistantId }),
    toolId,
    version,
    calls: counts["calls"] ?? 0,
    cost: moneyOf([counts]),
  };
}

/** Adds up the money of several counts, by currency. */
export function moneyOf(all: readonly Counts[]): readonly Money[] {
  const micros = new Map<string, number>();
  for (const [counter, by] of all.flatMap((counts) => Object.entries(counts))) {
    if (!counter.startsWith(COST)) continue;
    const currency = counter.slice(COST.length);
    micros.set(currency, (micros.get(currency) ?? 0) + by);
  }
  return [...micros].map(([currency, sum]) => ({ currency, amount: sum / 1_000_000 }));
}
