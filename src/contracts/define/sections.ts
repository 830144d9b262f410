import type { GivenObject } from "../../protocol/json/author-data.ts";
import type { ExpectedState } from "../../protocol/outcome/verification.ts";
import type { ContentLimits } from "../../protocol/tool/content.ts";
import type {
  CostUnit,
  EgressPolicy,
  SecretsBoundary,
  Semantics,
} from "../../protocol/tool/contract-document.ts";
import type { DataClassification } from "../../protocol/tool/data-class.ts";

/** How the effect of a call is verified afterwards (seeds/004, "verification"). */
export interface VerificationSection<Args, Output> {
  /** From the end of the call to the first read: 0 to 86400. */
  readonly delaySeconds: number;
  /**
   * Tells the state that the call leads to. The model and operators see the fields of `state` that
   * `redaction.state` lists. Contract: pure and synchronous.
   */
  expect(args: Args, output: Output): ExpectedState<GivenObject>;
}

export interface RuntimeSection {
  readonly timeoutMs: number;
  /** Limit for the calls of one run within a window. */
  readonly rateLimit: { readonly windowSeconds: number; readonly maxRequests: number };
  /**
   * `call` and `transaction` charge each call once. `second` charges the time of its attempts.
   * Other units are refused.
   */
  readonly cost: { readonly currency: string; readonly perCall: number; readonly unit: CostUnit };
  /** There is no sandbox: true is refused. */
  readonly sandboxIsolated: boolean;
  readonly maxRetries: number;
  /**
   * How long a write is repeated under its key while its service fails, counted from the first
   * dispatch. 0 to 3600000, and within `idempotency.ttlSeconds`. Default: 0.
   */
  readonly retryForMs: number;
  /** At most 262144. */
  readonly maxArgumentsBytes: number;
  /** At most 262144. */
  readonly maxResultBytes: number;
}

export interface SecuritySection {
  readonly requiredScopes: readonly string[];
  /**
   * False: what it reads or changes belongs to no tenant. Refused with a workspace or a connection,
   * which are always those of the caller's tenant.
   */
  readonly tenantScoped: boolean;
  /** `gateway_injected` with `requiresConnection`, else `none`. Anything else is refused. */
  readonly secretsBoundary: SecretsBoundary;
  readonly dataClassification: DataClassification;
  /** `allowlisted_domains` with the capability `http`, else `none`. Anything else is refused. */
  readonly egressPolicy: EgressPolicy;
  /** Hosts that `http` may reach: `host` or `host:port`, as a URL shows it. */
  readonly egressHosts: readonly string[];
  /** Services that `http` may reach. The deployment binds each name to an address. */
  readonly upstreams: readonly string[];
  /** The output holds text that others wrote. Default: true unless egressPolicy is `none`. */
  readonly untrustedOutput: boolean;
  /**
   * Of a read: its arguments carry text to a service, so a call can tell a stranger something.
   * Default: true with the capability `http`, unless the arguments hold only numbers, booleans and
   * listed values. False is refused for arguments with free text: a text needs a `pattern` without
   * spaces and at most 64 characters.
   */
  readonly discloses?: boolean;
}

export interface TransactionalSection {
  readonly confirmationRequired: boolean;
  /**
   * What undoing the call takes. Default: `compensable_write` with a `compensationTool`, else
   * `irreversible_pivot`, which a MEDIUM_RISK_WRITE and a CRITICAL_MUTATION have to say themselves.
   */
  readonly semantics: Semantics;
  /** Id of the tool that undoes the call; `compensate` makes its arguments. */
  readonly compensationTool: string | null;
  /** Default: true for a contract with `verify`, and from HIGH_RISK_EXTERNAL. */
  readonly verificationRequired: boolean;
}

export interface IdempotencySection {
  /** A second call under the same key changes nothing more. */
  readonly supported: boolean;
  readonly required: boolean;
  readonly keyHeader: string | null;
  readonly ttlSeconds: number | null;
}

export interface ObservabilitySection {
  readonly traceAttributes: readonly string[];
}

/** The sections of a whole contract. */
export interface Sections {
  readonly content: ContentLimits;
  readonly runtime: RuntimeSection;
  readonly security: SecuritySection;
  readonly transactional: TransactionalSection;
  readonly idempotency: IdempotencySection;
  readonly observability: ObservabilitySection;
}
