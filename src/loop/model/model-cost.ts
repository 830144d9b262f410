import type { ModelDirectory } from "../../capabilities/model.ts";
import type { ModelPrices } from "../../protocol/model/declaration.ts";
import { costBound, costOf, dearestRates, type TokenRates } from "../../protocol/model/prices.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import { otherCurrency, type RunEnd } from "../run-end.ts";

/** What the cost of a run's model calls is computed from. */
export interface ModelCostParts {
  readonly modelOf: ModelDirectory;
  readonly claim: RunClaim;
  /** The policy that the run pinned. */
  readonly policy: ToolPolicy;
}

/**
 * Computes what a run's model calls cost. Until a call has ended, nobody knows which model of the
 * fallback list answers, so each bound takes the dearest one. Without prices, or where policy
 * limits no cost, nothing is counted.
 * Contract: pure. Unit: millionths of the currency.
 */
export class ModelCost {
  readonly #parts: ModelCostParts;
  /** Of every model that may be asked; none where nothing is counted. */
  readonly #prices: readonly ModelPrices[];
  readonly #rates: TokenRates | undefined;

  constructor(parts: ModelCostParts) {
    const { modelOf, claim, policy } = parts;
    const sections = [policy.budgets, policy.tenantBudgets];
    const isLimited = sections.some((section) => limitsOf(section).cost !== undefined);
    const model = modelOf(claim.model);
    const { rule } = claim.summarise ?? {};
    const others = [...(model?.fallback ?? []), ...(rule ? [rule.summary.model] : [])];
    const prices = [model, ...others.map(modelOf)].flatMap((known) => known?.prices ?? []);
    this.#parts = parts;
    this.#prices = isLimited ? prices : [];
    this.#rates = this.#prices.length > 0 ? dearestRates(prices) : undefined;
  }

  get isCounted(): boolean {
    return this.#rates !== undefined;
  }

  /** Names the run's end when the prices are in another currency than the budgets. */
  findMismatch({ currency }: ToolPolicy): RunEnd | undefined {
    const other = this.#prices.find((prices) => prices.currency !== currency);
    return other && otherCurrency(other.currency, currency);
  }

  /** Computes the most that a call can cost; undefined where nothing is counted. */
  bound(inputTokens: number, outputTokens: number): number | undefined {
    return this.#rates && costBound(this.#rates, inputTokens, outputTokens);
  }

  /** Computes the longest answer that this money can pay. Unit: tokens. */
  longestAnswer(inputTokens: number, money: number): number {
    if (!this.#rates) return Number.POSITIVE_INFINITY;
    const left = money - costBound(this.#rates, inputTokens, 0);
    if (left < 0) return -1;
    return this.#rates.output === 0
      ? Number.POSITIVE_INFINITY
      : Math.floor(left / this.#rates.output);
  }

  /** Computes what a model's bill costs; undefined where nothing is counted. */
  of(modelId: string, usage: Usage): number | undefined {
    const prices = this.isCounted ? this.#parts.modelOf(modelId)?.prices : undefined;
    return prices && costOf(prices, usage);
  }
}
