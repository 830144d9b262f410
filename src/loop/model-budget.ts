import type { BudgetLedger, Reservation } from "../capabilities/budget.ts";
import type { InputBound, ModelRequest } from "../capabilities/model.ts";
import type { PolicyStore } from "../capabilities/policy.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import { lowerLimits } from "../protocol/budget/amounts.ts";
import type { ModelAnswer } from "../protocol/model/event.ts";
import type { PolicyPin } from "../protocol/policy/pin.ts";
import { fail, ok, type Result } from "../protocol/outcome/result.ts";
import type { RunClaim } from "../protocol/run/claim.ts";
import type { TokenReservation, RunFacts } from "../protocol/run/facts.ts";
import { limitsOf } from "../protocol/policy/limits.ts";
import type { ToolPolicy } from "../protocol/policy/document.ts";
import type { Usage } from "../protocol/model/usage.ts";
import {
  reserveUnderCurrentPolicy,
  type Applicant,
} from "../runner/budget/reserve-under-current-policy.ts";
import type { PinnedTerms } from "../runner/terms.ts";
import type { RunBudget } from "../runner/budget/of-run.ts";
import { latestEndMs } from "../runner/budget/run-time.ts";
import { failed, overBudget, type RunEnd } from "./run-end.ts";

/** The capabilities and terms that a run's tokens are counted with. */
export interface ModelBudgetPorts {
  readonly ledger: BudgetLedger;
  readonly policies: PolicyStore;
  readonly journal: Pick<RunJournal, "note" | "flush">;
  readonly inputBound: InputBound;
  readonly claim: RunClaim;
  /** The policy that the run pinned. */
  readonly policy: ToolPolicy;
  readonly pin: PolicyPin | undefined;
  readonly budget: RunBudget;
}

/** What a model call may use. `reservation` is absent where policy limits no tokens. */
export interface ModelAllowance {
  readonly maxOutputTokens?: number;
  readonly reservation?: TokenReservation;
}

/** Longest answer where policy limits tokens and sets no length. */
const DEFAULT_MAX_OUTPUT_TOKENS = 4_096;
/** The run ends rather than ask for a shorter answer. */
const LEAST_OUTPUT_TOKENS = 256;

type Call = Pick<ModelRequest, "messages" | "tools"> & { readonly modelCall: number };

/**
 * Reserves tokens of the run and of its tenant before each model call: the most that its request
 * and its answer can have. After the call the tokens that the provider reports replace the
 * reservation. Where the pinned policy limits no tokens, it reserves nothing and asks no ledger.
 * Ownership: one per incarnation of a run; its model calls follow each other.
 */
export class ModelBudget {
  readonly #ports: ModelBudgetPorts;
  readonly #isRunLimited: boolean;
  readonly #isTenantLimited: boolean;
  #refused = 0;
  #settling: Promise<void> = Promise.resolve();

  constructor(ports: ModelBudgetPorts) {
    const { budgets, tenantBudgets } = ports.policy;
    this.#ports = ports;
    this.#isRunLimited = limitsOf(budgets).tokens !== undefined;
    this.#isTenantLimited = limitsOf(tenantBudgets).tokens !== undefined;
  }

  /**
   * Counts the tokens of earlier incarnations. When the last of them stored a model's answer, it
   * may not have told the tenant's ledger; this does. `logged` is the usage of the finished steps.
   */
  restore({ tokens, reservation, answer }: RunFacts, logged: Usage): void {
    const used = tokens ?? logged.inputTokens + logged.outputTokens;
    this.#ports.budget.spend({ tokens: used });
    // The usage of a call that a crash cut off is unknown, so its whole reservation stays counted.
    const isAnswered = reservation && answer?.modelCall === reservation.modelCall;
    if (isAnswered) this.#close(reservation, answer);
  }

  /**
   * Reserves tokens for a model call. When not all are left, it allows a shorter answer.
   * Contract: the reservation is stored before what leaves the object from now on.
   * Fails: the run's end, when too few tokens are left.
   */
  async reserve({ modelCall, ...request }: Call): Promise<Result<ModelAllowance, RunEnd>> {
    const { inputBound, policy, budget } = this.#ports;
    const { maxOutputTokens: longest } = policy.budgets;
    if (!this.#isRunLimited && !this.#isTenantLimited) {
      return ok(longest === undefined ? {} : { maxOutputTokens: longest });
    }
    await this.#settling;
    const wanted = longest ?? DEFAULT_MAX_OUTPUT_TOKENS;
    const input = inputBound({ ...request, model: this.#ports.claim.model });
    const least = input + Math.min(wanted, LEAST_OUTPUT_TOKENS);
    const left = budget.left("tokens");
    if (left < least) return fail(overBudget("tokens"));
    const id = `${this.#ports.claim.runId}/model/${modelCall}.${this.#refused}`;
    const most = Math.min(input + wanted, left);
    const granted = await this.#reserveUnderCurrentPolicy({ id, most, least });
    if (!granted.ok) return granted;
    const tokens = granted.value;
    const reservation = { id, modelCall, tokens, maxOutputTokens: tokens - input };
    budget.spend({ tokens });
    this.#note(reservation);
    this.#ports.journal.flush();
    return ok({ maxOutputTokens: reservation.maxOutputTokens, reservation });
  }

  /**
   * Replaces a call's reservation by its usage. Contract: call it once per model call; never waits.
   */
  settle({ reservation }: ModelAllowance, answer: Pick<ModelAnswer, "usage">): void {
    if (!reservation) return;
    const used = usedOf(reservation, answer);
    this.#ports.budget.spend({ tokens: used }, { tokens: reservation.tokens });
    this.#note(reservation);
    this.#close(reservation, answer);
  }

  /** Gives back the reservation of a model call that used nothing. */
  release({ reservation }: ModelAllowance): void {
    if (!reservation) return;
    this.#refused++;
    this.#ports.budget.spend({}, { tokens: reservation.tokens });
    this.#note(undefined);
    if (this.#isTenantLimited) this.#later(() => this.#ports.ledger.release(reservation.id));
  }

  /** Resolves once the tenant's ledger knows everything so far. */
  settled(): Promise<void> {
    return this.#settling;
  }

  #close(reservation: TokenReservation, answer: Pick<ModelAnswer, "usage">): void {
    if (!this.#isTenantLimited) return;
    const tokens = usedOf(reservation, answer);
    this.#later(() => this.#ports.ledger.settle(reservation.id, { tokens }));
  }

  /** Tells the ledger in order, so that the next call finds what the last one left. */
  #later(tellLedger: () => Promise<void>): void {
    this.#settling = this.#settling.then(tellLedger);
  }

  #note(reservation: TokenReservation | undefined): void {
    const { journal, budget } = this.#ports;
    journal.note({ tokens: budget.spent.tokens ?? 0, reservation });
  }

  /** Reserves tokens at the tenant's ledger; answers how many it granted. */
  async #reserveUnderCurrentPolicy(want: Want): Promise<Result<number, RunEnd>> {
    const { ledger, policies, policy, pin, claim } = this.#ports;
    if (!this.#isTenantLimited) return ok(want.most);
    if (!pin) return fail(UNAVAILABLE);
    const { tenantId } = claim.principal;
    const applicant: Applicant<never> = {
      reservationUnder: (terms) => this.#reservationOf(want, terms),
      // The gates of the runner check a policy's rules on tools.
      obeyNewTerms: () => Promise.resolve(ok(null)),
    };
    const answer = await reserveUnderCurrentPolicy(
      { ledger, policies, tenantId },
      { policy, pin },
      applicant,
    );
    if (answer.kind === "reserved") return ok(answer.granted?.tokens ?? want.most);
    return fail(answer.kind === "exhausted" ? overBudget("the tenant's tokens") : UNAVAILABLE);
  }

  /** Asks under the lower limits of the pinned policy and the current one. */
  #reservationOf({ id, most, least }: Want, { policy, pin }: PinnedTerms): Reservation {
    const pinned = this.#ports.policy;
    const amounts = { tokens: most };
    return {
      id,
      toolId: "",
      amounts,
      least: { tokens: least },
      limits: lowerLimits(limitsOf(pinned.tenantBudgets), limitsOf(policy.tenantBudgets)),
      windowSeconds: policy.tenantBudgets.windowSeconds,
      // A provider bills an answer that nobody receives, too.
      unsettled: { forMs: latestEndMs(pinned), keeps: amounts },
      pin,
    };
  }
}

/** How many tokens to reserve. */
interface Want {
  readonly id: string;
  /** Unit of both: tokens. */
  readonly most: number;
  readonly least: number;
}

/**
 * Tells how many tokens a model call used. A provider that reports no input tokens does not count
 * tokens, so the whole reservation counts.
 */
function usedOf({ tokens }: TokenReservation, { usage }: Pick<ModelAnswer, "usage">): number {
  const isReported = usage !== undefined && usage.inputTokens > 0;
  return isReported ? usage.inputTokens + usage.outputTokens : tokens;
}

const UNAVAILABLE = failed(
  "budget_unavailable",
  "The tenant's budgets cannot be read. Try again later.",
);
