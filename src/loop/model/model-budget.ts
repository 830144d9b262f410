import type { BudgetLedger, Reservation } from "../../capabilities/budget.ts";
import type { InputBound, ModelDirectory, ModelRequest } from "../../capabilities/model.ts";
import type { PolicyStore } from "../../capabilities/policy.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import { lowerLimits, replaceAmounts, type BudgetAmounts } from "../../protocol/budget/amounts.ts";
import type { ModelAnswer } from "../../protocol/model/event.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import { fail, ok, type Result } from "../../protocol/outcome/result.ts";
import type { RunClaim } from "../../protocol/run/claim.ts";
import type { ModelSpending, RunFacts, TokenReservation } from "../../protocol/run/facts.ts";
import { limitsOf } from "../../protocol/policy/limits.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";
import type { Usage } from "../../protocol/model/usage.ts";
import {
  reserveUnderCurrentPolicy,
  type Applicant,
} from "../../runner/budget/reserve-under-current-policy.ts";
import type { PinnedTerms } from "../../runner/terms.ts";
import type { RunBudget } from "../../runner/budget/of-run.ts";
import { latestEndMs } from "../../runner/budget/run-time.ts";
import { ModelCost } from "./model-cost.ts";
import { failed, overBudget, type RunEnd } from "../run-end.ts";
import { isCredible, ShownTokens } from "./shown-tokens.ts";

/** The capabilities and terms that a run's model calls are counted with. */
export interface ModelBudgetPorts {
  readonly ledger: BudgetLedger;
  readonly policies: PolicyStore;
  readonly journal: Pick<RunJournal, "note" | "flush">;
  readonly modelOf: ModelDirectory;
  readonly inputBound: InputBound;
  readonly claim: RunClaim;
  /** The policy that the run pinned. */
  readonly policy: ToolPolicy;
  readonly pin: PolicyPin | undefined;
  readonly budget: RunBudget;
}

/** What a model call may use. Where policy limits nothing, `reservation` is absent. */
export interface ModelAllowance {
  readonly maxOutputTokens?: number;
  readonly reservation?: TokenReservation;
  /** The fewest tokens that its request can have. */
  readonly leastInputTokens?: number;
}

/** Longest answer where policy limits tokens or cost and sets no length. */
const DEFAULT_MAX_OUTPUT_TOKENS = 4_096;
/** The run ends rather than ask for a shorter answer. */
const LEAST_OUTPUT_TOKENS = 256;

type Call = Pick<ModelRequest, "model" | "messages" | "tools"> & { readonly modelCall: number };

/**
 * Reserves tokens, and their cost, of the run and of its tenant before each model call: the most
 * that its request and its answer can have. After the call the usage that the provider reports
 * replaces the reservation. Where the pinned policy limits neither, it reserves nothing and asks no
 * ledger.
 * Ownership: one per incarnation of a run; its model calls follow each other.
 */
export class ModelBudget {
  readonly #ports: ModelBudgetPorts;
  readonly #cost: ModelCost;
  readonly #isRunLimited: boolean;
  readonly #isTenantLimited: boolean;
  readonly #shown = new ShownTokens();
  #spent: ModelSpending = {};
  #refused = 0;
  #settling: Promise<void> = Promise.resolve();

  constructor(ports: ModelBudgetPorts) {
    const { budgets, tenantBudgets } = ports.policy;
    const cost = new ModelCost(ports);
    const isLimited = (section: typeof budgets | typeof tenantBudgets): boolean => {
      const limits = limitsOf(section);
      return limits.tokens !== undefined || (cost.isCounted && limits.cost !== undefined);
    };
    this.#ports = ports;
    this.#cost = cost;
    this.#isRunLimited = isLimited(budgets);
    this.#isTenantLimited = isLimited(tenantBudgets);
  }

  /**
   * Counts the model calls of earlier incarnations. When the last of them stored a model's answer,
   * it may not have told the tenant's ledger; this does. `logged` is the usage of the finished
   * steps.
   */
  restore({ tokens, cost, reservation, answer }: RunFacts, logged: Usage): void {
    const used = tokens ?? logged.inputTokens + logged.outputTokens;
    this.#count({ tokens: used, ...(cost !== undefined && { cost }) });
    if (!reservation) return;
    // The usage of a call that a crash cut off is unknown, so its whole reservation stays counted.
    const isAnswered = answer?.modelCall === reservation.modelCall;
    const known =
      reservation.used ?? (isAnswered ? this.#usedOf({ reservation }, answer) : undefined);
    if (known) this.#close(reservation.id, known);
  }

  /**
   * Reserves tokens and cost for a model call. When not all are left, it allows a shorter answer.
   * Contract: the reservation is stored before what leaves the object from now on.
   * Fails: the run's end, when too little is left, or when the prices are in another currency.
   */
  async reserve({ modelCall, model, ...request }: Call): Promise<Result<ModelAllowance, RunEnd>> {
    const { policy, budget, claim, journal } = this.#ports;
    const { maxOutputTokens: longest } = policy.budgets;
    if (!this.#isRunLimited && !this.#isTenantLimited) {
      return ok(longest === undefined ? {} : { maxOutputTokens: longest });
    }
    const mismatch = this.#cost.findMismatch(policy);
    if (mismatch) return fail(mismatch);
    await this.#settling;
    const wanted = longest ?? DEFAULT_MAX_OUTPUT_TOKENS;
    const least = Math.min(wanted, LEAST_OUTPUT_TOKENS);
    const input = this.#boundInput(model, request);
    if (input === Infinity) return fail(UNBOUNDED);
    const room = {
      tokens: budget.left("tokens") - input,
      cost: this.#cost.longestAnswer(input, budget.left("cost")),
    };
    if (room.tokens < least) return fail(overBudget("tokens"));
    if (room.cost < least) return fail(overBudget("cost"));
    const most = Math.min(wanted, room.tokens, room.cost);
    const id = `${claim.runId}/model/${modelCall}.${this.#refused}`;
    const granted = await this.#reserveUnderCurrentPolicy({ id, input, most, least });
    if (!granted.ok) return granted;
    const maxOutputTokens = granted.value;
    const held = this.#spendingOf(input, maxOutputTokens);
    const asked = model === claim.model ? {} : { model };
    const reservation = { id, modelCall, ...asked, ...held, maxOutputTokens };
    this.#count(held);
    this.#note(reservation);
    journal.flush();
    return ok({ maxOutputTokens, reservation, leastInputTokens: this.#shown.of(request.messages) });
  }

  /**
   * Replaces a call's reservation by its usage. Contract: call it once per model call; never waits.
   */
  settle(allowance: ModelAllowance, answer: Told): void {
    const { reservation } = allowance;
    if (!reservation) return;
    const used = this.#usedOf({ ...allowance, reservation }, answer);
    this.#count(used, reservation);
    this.#note({ ...reservation, used });
    this.#close(reservation.id, used);
  }

  /** Gives back the reservation of a model call that used nothing. */
  release({ reservation }: ModelAllowance): void {
    if (!reservation) return;
    this.#refused++;
    this.#count({}, reservation);
    this.#note(undefined);
    if (this.#isTenantLimited) this.#later(() => this.#ports.ledger.release(reservation.id));
  }

  /** Resolves once the tenant's ledger knows everything so far. */
  settled(): Promise<void> {
    return this.#settling;
  }

  #close(id: string, used: ModelSpending): void {
    if (this.#isTenantLimited) this.#later(() => this.#ports.ledger.settle(id, used));
  }

  /** Tells the ledger in order, so that the next call finds what the last one left. */
  #later(tellLedger: () => Promise<void>): void {
    this.#settling = this.#settling.then(tellLedger);
  }

  /** Counts what model calls take, instead of what they took before. */
  #count(spending: ModelSpending, instead: ModelSpending = {}): void {
    const before = pickSpending(instead);
    this.#ports.budget.spend(spending, before);
    this.#spent = replaceAmounts(this.#spent, before, spending);
  }

  #note(reservation: TokenReservation | undefined): void {
    const { tokens = 0, cost } = this.#spent;
    this.#ports.journal.note({ tokens, ...(cost !== undefined && { cost }), reservation });
  }

  /** Bounds the input for each model that may answer, because each counts in its own way. */
  #boundInput(asked: string, request: Omit<Call, "model" | "modelCall">): number {
    const { modelOf, inputBound, claim } = this.#ports;
    const models = [asked, claim.model, ...(modelOf(claim.model)?.fallback ?? [])];
    return Math.max(
      ...models.map((model) => inputBound({ ...request, model, can: modelOf(model)?.can })),
    );
  }

  #spendingOf(input: number, output: number): ModelSpending & { readonly tokens: number } {
    const cost = this.#cost.bound(input, output);
    return { tokens: input + output, ...(cost !== undefined && { cost }) };
  }

  /** Tells what a model call used. Without a credible report its whole reservation counts. */
  #usedOf(
    {
      reservation,
      leastInputTokens = 0,
    }: ModelAllowance & { readonly reservation: TokenReservation },
    { usage, ...said }: Told,
  ): ModelSpending {
    if (!isCredible(usage, { ...said, inputTokens: leastInputTokens })) {
      return pickSpending(reservation);
    }
    const cost = this.#cost.of(reservation.model ?? this.#ports.claim.model, usage);
    const tokens = usage.inputTokens + usage.outputTokens;
    return { tokens, ...(cost !== undefined && { cost }) };
  }

  /** Reserves at the tenant's ledger; answers the longest answer that it granted. */
  async #reserveUnderCurrentPolicy(want: Want): Promise<Result<number, RunEnd>> {
    const { ledger, policies, policy, pin, claim } = this.#ports;
    if (!this.#isTenantLimited) return ok(want.most);
    if (!pin) return fail(UNAVAILABLE);
    const { tenantId } = claim.principal;
    const applicant: Applicant<RunEnd> = {
      reservationUnder: (terms) => this.#reservationOf(want, terms),
      // The gates of the runner check a policy's rules on tools.
      obeyNewTerms: (terms) => {
        const mismatch = this.#cost.findMismatch(terms.policy);
        return Promise.resolve(mismatch ? fail(mismatch) : ok(null));
      },
    };
    const answer = await reserveUnderCurrentPolicy(
      { ledger, policies, tenantId },
      { policy, pin },
      applicant,
    );
    switch (answer.kind) {
      case "reserved":
        return ok(this.#longestGranted(want, answer.granted));
      case "exhausted":
        return fail(overBudget(answer.budget, "tenant"));
      case "refused":
        return fail(answer.failure);
      case "capped":
      case "no_consent":
      case "rate_limited":
      case "no_policy":
      case "unavailable":
        return fail(UNAVAILABLE);
    }
  }

  #longestGranted({ input, most, least }: Want, granted: BudgetAmounts = {}): number {
    const { tokens = Number.POSITIVE_INFINITY, cost = Number.POSITIVE_INFINITY } = granted;
    const longest = Math.min(most, tokens - input, this.#cost.longestAnswer(input, cost));
    return Math.max(least, longest);
  }

  /** Asks under the lower limits of the pinned policy and the current one. */
  #reservationOf({ id, input, most, least }: Want, { policy, pin }: PinnedTerms): Reservation {
    const pinned = this.#ports.policy;
    const amounts = this.#spendingOf(input, most);
    return {
      id,
      toolId: "",
      amounts,
      least: this.#spendingOf(input, least),
      limits: lowerLimits(limitsOf(pinned.tenantBudgets), limitsOf(policy.tenantBudgets)),
      windowSeconds: policy.tenantBudgets.windowSeconds,
      // A provider bills an answer that nobody receives, too.
      unsettled: { forMs: latestEndMs(pinned), keeps: amounts },
      pin,
    };
  }
}

/** What a model's answer tells about its usage. */
type Told = Pick<ModelAnswer, "usage"> & Partial<Pick<ModelAnswer, "text" | "toolCalls">>;

/** How much to reserve. Unit of the numbers: tokens. */
interface Want {
  readonly id: string;
  readonly input: number;
  /** The longest answer that the run can pay, and the shortest that is of use. */
  readonly most: number;
  readonly least: number;
}

function pickSpending({ tokens, cost }: ModelSpending): ModelSpending {
  return { ...(tokens !== undefined && { tokens }), ...(cost !== undefined && { cost }) };
}

const UNBOUNDED = failed(
  "files_unbounded",
  "A budget limits tokens, and a model of this run has no bound for the files of the conversation.",
);

const UNAVAILABLE = failed(
  "budget_unavailable",
  "The tenant's budgets cannot be read. Try again later.",
);
