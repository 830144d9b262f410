import type { LoadedPolicy, PolicyStore } from "../../capabilities/policy.ts";
import { hashOf } from "../../protocol/json/canonical-hash.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { denyAll, type ToolPolicy } from "../../protocol/policy/document.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";

/** Keeps the policies of one tenant in memory. The last one that was stored is the current one. */
export class MemoryPolicies implements PolicyStore {
  readonly #policies: { readonly policy: ToolPolicy; readonly pin: PolicyPin }[] = [];

  /** Makes a policy the current one. */
  async store(policy: ToolPolicy): Promise<void> {
    const hash = await hashOf(policy as unknown as JsonObject);
    this.#policies.push({ policy, pin: { revision: this.#policies.length + 1, hash } });
  }

  load(): Promise<LoadedPolicy> {
    return Promise.resolve(this.#policies.at(-1) ?? MISSING);
  }

  learn(): void {}

  read(_tenantId: unknown, { revision }: PolicyPin): Promise<LoadedPolicy> {
    return Promise.resolve(this.#policies[revision - 1] ?? MISSING);
  }

  /** The pin of the current policy, as the tenant's object knows it. */
  current(): Promise<PolicyPin | undefined> {
    return Promise.resolve(this.#policies.at(-1)?.pin);
  }
}

const MISSING: LoadedPolicy = { policy: denyAll(), deniedBecause: "missing" };
