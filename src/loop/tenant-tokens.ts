import type { BudgetLedger, Reservation } from "../capabilities/budget-ledger.ts";
import type { PolicyStore } from "../capabilities/policy-store.ts";
import { lowerLimits } from "../protocol/budget.ts";
import type { PolicyPin } from "../protocol/policy-pin.ts";
import type { RunClaim } from "../protocol/run-claim.ts";
import { ok } from "../protocol/result.ts";
import { limitsOf, type ToolPolicy } from "../protocol/tool-policy.ts";
import { reserveOfTenant, type Applicant, type PinnedPolicy } from "../runner/reserve-of-tenant.ts";
import { failed, overBudget, type RunEnd } from "./run-end.ts";

/** What the tokens of one run are counted with. */
export interface TokenPorts {
  readonly ledger: BudgetLedger;
  readonly policies: PolicyStore;
  readonly claim: RunClaim;
  /** What the run pinned. */
  readonly policy: ToolPolicy;
  readonly pin: PolicyPin | undefined;
}

/**
 * Counts a run's tokens against those of its tenant, where the policy that it pinned limits them: one
 * before each model call, to learn whether any are left, and the rest once the provider has told them.
 * Runs that call at the same moment can pass the limit by one call each.
 */
export class TenantTokens {
  readonly #ports: TokenPorts;
  readonly #isLimited: boolean;

  constructor(ports: TokenPorts) {
    this.#ports = ports;
    this.#isLimited = limitsOf(ports.policy.tenantBudgets).tokens !== undefined;
  }

  /** Asks for a model call; answers the run's end when the tenant has no tokens left. */
  async reserve(modelCall: number): Promise<RunEnd | undefined> {
    const { ledger, policies, policy, pin, claim } = this.#ports;
    if (!this.#isLimited) return undefined;
    if (!pin) return UNAVAILABLE;
    const { tenantId } = claim.principal;
    const applicant: Applicant<never> = {
      reservationUnder: (terms) => this.#reservationOf(modelCall, terms),
      // What a policy says of tools is asked when they are called.
      passes: () => Promise.resolve(ok(null)),
    };
    const answer = await reserveOfTenant(
      { ledger, policies, tenantId },
      { policy, pin },
      applicant,
    );
    if (answer.kind === "reserved") return undefined;
    return answer.kind === "exhausted" ? overBudget("the tenant's tokens") : UNAVAILABLE;
  }

  /** Counts what a model call used. Contract: a call is counted once. */
  async spend(modelCall: number, tokens: number): Promise<void> {
    if (!this.#isLimited || tokens <= 1) return;
    await this.#ports.ledger.charge({
      id: `${this.#idOf(modelCall)}/used`,
      amounts: { tokens: tokens - 1 },
      windowSeconds: this.#ports.policy.tenantBudgets.windowSeconds,
    });
  }

  /** The pinned policy is the ceiling: of its limits and those of another one the lower hold. */
  #reservationOf(modelCall: number, { policy, pin }: PinnedPolicy): Reservation {
    const pinned = limitsOf(this.#ports.policy.tenantBudgets);
    return {
      id: this.#idOf(modelCall),
      toolId: "",
      amounts: { tokens: 1 },
      limits: lowerLimits(pinned, limitsOf(policy.tenantBudgets)),
      windowSeconds: policy.tenantBudgets.windowSeconds,
      pin,
    };
  }

  #idOf(modelCall: number): string {
    return `${this.#ports.claim.runId}/model/${modelCall}`;
  }
}

const UNAVAILABLE = failed("budget_unavailable", "The tenant's budgets cannot be read.");
