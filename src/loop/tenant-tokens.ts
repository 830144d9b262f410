import type { BudgetLedger } from "../capabilities/budget-ledger.ts";
import type { PolicyStore } from "../capabilities/policy-store.ts";
import { lowerLimits } from "../protocol/budget.ts";
import type { PolicyPin } from "../protocol/policy-pin.ts";
import type { RunClaim } from "../protocol/run-claim.ts";
import { limitsOf, type ToolPolicy } from "../protocol/tool-policy.ts";
import { failed, overBudget, type RunEnd } from "./run-end.ts";

/** A policy that changes oftener than this while one call waits is not to be relied on. */
const MAX_POLICY_CHANGES = 3;

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
  async reserve(step: number): Promise<RunEnd | undefined> {
    let { policy, pin } = this.#ports;
    for (let change = 0; this.#isLimited && pin && change <= MAX_POLICY_CHANGES; change++) {
      const answer = await this.#ports.ledger.reserve({
        id: this.#idOf(step),
        toolId: "",
        amounts: { tokens: 1 },
        limits: lowerLimits(
          limitsOf(this.#ports.policy.tenantBudgets),
          limitsOf(policy.tenantBudgets),
        ),
        windowSeconds: policy.tenantBudgets.windowSeconds,
        pin,
      });
      if (answer.kind === "reserved") return undefined;
      if (answer.kind === "exhausted") return overBudget("the tenant's tokens");
      if (answer.kind !== "policy_changed" || !answer.pin) return UNAVAILABLE;
      const current = await this.#ports.policies.read(
        this.#ports.claim.principal.tenantId,
        answer.pin,
      );
      ({ policy, pin } = { policy: current.policy, pin: current.pin });
    }
    return this.#isLimited ? UNAVAILABLE : undefined;
  }

  /** Counts what a model call used. Contract: a call is counted once. */
  async spend(step: number, tokens: number): Promise<void> {
    if (!this.#isLimited || tokens <= 1) return;
    await this.#ports.ledger.charge({
      id: `${this.#idOf(step)}/used`,
      amounts: { tokens: tokens - 1 },
      windowSeconds: this.#ports.policy.tenantBudgets.windowSeconds,
    });
  }

  #idOf(step: number): string {
    return `${this.#ports.claim.runId}/model/${step}`;
  }
}

const UNAVAILABLE = failed("budget_unavailable", "The tenant's budgets cannot be read.");
