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
import { reserveOfTenant, type Applicant } from "../runner/budget/reserve-of-tenant.ts";
import type { PinnedTerms } from "../runner/terms.ts";
import type { RunBudget } from "../runner/budget/of-run.ts";
import { surelyOverMs } from "../runner/budget/run-time.ts";
import { failed, overBudget, type RunEnd } from "./run-end.ts";

/** What the tokens of one run are counted with. */
export interface ModelBudgetPorts {
  readonly ledger: BudgetLedger;
  readonly policies: PolicyStore;
  readonly journal: Pick<RunJournal, "note" | "flush">;
  readonly inputBound: InputBound;
  readonly claim: RunClaim;
  /** What the run pinned. */
  readonly policy: ToolPolicy;
  readonly pin: PolicyPin | undefined;
  readonly budget: RunBudget;
}

/** What a model call may use; `reservation` is absent where nothing limits tokens. */
export interface ModelAllowance {
  readonly maxOutputTokens?: number;
  readonly reservation?: TokenReservation;
}

/** Longest answer where tokens are limited and policy says nothing else. */
const DEFAULT_MAX_OUTPUT_TOKENS = 4_096;
/** A shorter answer is not worth asking for. */
const LEAST_OUTPUT_TOKENS = 256;

type Call = Pick<ModelRequest, "messages" | "tools"> & { readonly modelCall: number };

/**
 * Holds tokens of the run and of its tenant for each model call before it is made: as many as its request
 * has at most, and as its answer may have. Once the call has ended they make way for those that the
 * provider tells. Where the policy that the run pinned limits no tokens it holds none and asks nobody.
 * Ownership: one per life of a run; its calls follow each other.
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

  /** Takes in what earlier lives used, and tells what the last of them learned and could not tell. */
  restore({ tokens, reservation, answer }: RunFacts, told: Usage): void {
    const used = tokens ?? told.inputTokens + told.outputTokens;
    this.#ports.budget.spend({ tokens: used });
    // Of a call that was cut short nobody knows what it used: all that was held for it stays counted.
    if (reservation && answer?.modelCall === reservation.modelCall)
      this.#close(reservation, answer);
  }

  /**
   * Holds tokens for a model call; a shorter answer than wanted is better than none.
   * Contract: stored before what leaves the object from now on. Fails: the run's end, when not enough are left.
   */
  async reserve({ modelCall, ...request }: Call): Promise<Result<ModelAllowance, RunEnd>> {
    const { inputBound, policy, budget } = this.#ports;
    const { maxOutputTokens: asked } = policy.budgets;
    if (!this.#isRunLimited && !this.#isTenantLimited) {
      return ok(asked === undefined ? {} : { maxOutputTokens: asked });
    }
    await this.#settling;
    const wanted = asked ?? DEFAULT_MAX_OUTPUT_TOKENS;
    const input = inputBound(request);
    const least = input + Math.min(wanted, LEAST_OUTPUT_TOKENS);
    const left = budget.left("tokens");
    if (left < least) return fail(overBudget("tokens"));
    const id = `${this.#ports.claim.runId}/model/${modelCall}.${this.#refused}`;
    const most = Math.min(input + wanted, left);
    const granted = await this.#reserveOfTenant({ id, most, least });
    if (!granted.ok) return granted;
    const tokens = granted.value;
    const reservation = { id, modelCall, tokens, maxOutputTokens: tokens - input };
    budget.spend({ tokens });
    this.#note(reservation);
    this.#ports.journal.flush();
    return ok({ maxOutputTokens: reservation.maxOutputTokens, reservation });
  }

  /** Counts what a model call used. Contract: each call once; nobody has to wait for it. */
  settle({ reservation }: ModelAllowance, answer: Pick<ModelAnswer, "usage">): void {
    if (!reservation) return;
    const used = usedOf(reservation, answer);
    this.#ports.budget.spend({ tokens: used }, { tokens: reservation.tokens });
    this.#note(reservation);
    this.#close(reservation, answer);
  }

  /** Gives back what was held for a model call that used nothing. */
  release({ reservation }: ModelAllowance): void {
    if (!reservation) return;
    this.#refused++;
    this.#ports.budget.spend({}, { tokens: reservation.tokens });
    this.#note(undefined);
    if (this.#isTenantLimited) this.#later(() => this.#ports.ledger.release(reservation.id));
  }

  /** Resolves once the tenant has been told of everything so far. */
  settled(): Promise<void> {
    return this.#settling;
  }

  #close(reservation: TokenReservation, answer: Pick<ModelAnswer, "usage">): void {
    if (!this.#isTenantLimited) return;
    const tokens = usedOf(reservation, answer);
    this.#later(() => this.#ports.ledger.settle(reservation.id, { tokens }));
  }

  /** One after the other, so that the next call finds what the last one left. */
  #later(tell: () => Promise<void>): void {
    this.#settling = this.#settling.then(tell);
  }

  #note(reservation: TokenReservation | undefined): void {
    const { journal, budget } = this.#ports;
    journal.note({ tokens: budget.spent.tokens ?? 0, reservation });
  }

  /** Asks the tenant for tokens; answers how many there are. */
  async #reserveOfTenant(want: Want): Promise<Result<number, RunEnd>> {
    const { ledger, policies, policy, pin, claim } = this.#ports;
    if (!this.#isTenantLimited) return ok(want.most);
    if (!pin) return fail(UNAVAILABLE);
    const { tenantId } = claim.principal;
    const applicant: Applicant<never> = {
      reservationUnder: (terms) => this.#reservationOf(want, terms),
      // What a policy says of tools is asked when they are called.
      obeyNewTerms: () => Promise.resolve(ok(null)),
    };
    const answer = await reserveOfTenant(
      { ledger, policies, tenantId },
      { policy, pin },
      applicant,
    );
    if (answer.kind === "reserved") return ok(answer.granted?.tokens ?? want.most);
    return fail(answer.kind === "exhausted" ? overBudget("the tenant's tokens") : UNAVAILABLE);
  }

  /** The pinned policy is the ceiling: of its limits and those of another one the lower hold. */
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
      // A provider bills what it has made, also for nobody.
      unsettled: { forMs: surelyOverMs(pinned), keeps: amounts },
      pin,
    };
  }
}

/** How many tokens to hold: unit of both, tokens. */
interface Want {
  readonly id: string;
  readonly most: number;
  readonly least: number;
}

/** A request without tokens is none: who tells of none does not count them, and all that was held counts. */
function usedOf({ tokens }: TokenReservation, { usage }: Pick<ModelAnswer, "usage">): number {
  const isTold = usage !== undefined && usage.inputTokens > 0;
  return isTold ? usage.inputTokens + usage.outputTokens : tokens;
}

const UNAVAILABLE = failed("budget_unavailable", "The tenant's budgets cannot be read.");
