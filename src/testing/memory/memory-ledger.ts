import type { BudgetLedger, Reservation, ReservationAnswer } from "../../capabilities/budget.ts";
import type { PolicyRegistry } from "../../capabilities/policy.ts";
import type { Clock } from "../../capabilities/system.ts";
import {
  findExhausted,
  replaceAmounts,
  type BudgetAmounts,
} from "../../protocol/budget/amounts.ts";
import { isSamePin, type PolicyPin } from "../../protocol/policy/pin.ts";
import type { TenantId } from "../../protocol/identity/ids.ts";

interface Counted {
  readonly toolId: string;
  readonly atMs: number;
  amounts: BudgetAmounts;
}

export interface MemoryLedgerPorts {
  readonly clock: Clock;
  readonly registry: Pick<PolicyRegistry, "current">;
  readonly tenantId: TenantId;
}

/** Counts in memory what the calls of one test use of the tenant's budgets, in one window. */
export class MemoryLedger implements BudgetLedger {
  readonly #ports: MemoryLedgerPorts;
  readonly #counted = new Map<string, Counted>();

  constructor(ports: MemoryLedgerPorts) {
    this.#ports = ports;
  }

  async reserve(reservation: Reservation): Promise<ReservationAnswer> {
    const current = await this.#ports.registry.current(this.#ports.tenantId);
    // In one turn, so that parallel calls cannot pass a limit together.
    const answer = this.#answer(reservation, current);
    const { id, toolId, amounts } = reservation;
    const atMs = this.#ports.clock.nowMs();
    if (answer.kind === "reserved" && !this.#counted.has(id)) {
      this.#counted.set(id, { toolId, atMs, amounts });
    }
    return answer;
  }

  async peek(reservation: Reservation): Promise<ReservationAnswer> {
    return this.#answer(reservation, await this.#ports.registry.current(this.#ports.tenantId));
  }

  #answer(reservation: Reservation, current: PolicyPin | undefined): ReservationAnswer {
    const { id, amounts, least, limits, pin } = reservation;
    if (!current || !isSamePin(current, pin)) return { kind: "policy_changed", pin: current };
    const granted = least && { granted: amounts };
    if (this.#counted.has(id)) return { kind: "reserved", ...granted };
    const spent = [...this.#counted.values()].reduce<BudgetAmounts>(
      (sum, counted) => replaceAmounts(sum, {}, counted.amounts),
      {},
    );
    const budget = findExhausted(limits, spent, least ?? amounts);
    if (budget !== undefined) return { kind: "exhausted", budget };
    const retryAfterMs = this.#delayOf(reservation, this.#ports.clock.nowMs());
    if (retryAfterMs > 0) return { kind: "rate_limited", retryAfterMs };
    return { kind: "reserved", ...granted };
  }

  async settle(id: string, used: BudgetAmounts): Promise<void> {
    const counted = this.#counted.get(id);
    if (counted) counted.amounts = used;
  }

  async release(id: string): Promise<void> {
    this.#counted.delete(id);
  }

  /** Time until the tenant's rate limit lets the call start. */
  #delayOf({ toolId, rateLimit }: Reservation, nowMs: number): number {
    if (!rateLimit) return 0;
    const windowMs = rateLimit.windowSeconds * 1_000;
    const recent = [...this.#counted.values()].filter(
      (counted) => counted.toolId === toolId && counted.atMs > nowMs - windowMs,
    );
    const [oldest] = recent.toSorted((one, other) => one.atMs - other.atMs);
    return oldest && recent.length >= rateLimit.maxRequests ? oldest.atMs + windowMs - nowMs : 0;
  }
}
