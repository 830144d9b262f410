import type { ApprovalQueue } from "../capabilities/approval-queue.ts";
import type { AuditTrail } from "../capabilities/audit-trail.ts";
import type { Authenticator } from "../capabilities/authenticator.ts";
import type { Clock } from "../capabilities/clock.ts";
import type { ConnectionStore } from "../capabilities/connection-store.ts";
import type { Cursors } from "../capabilities/cursors.ts";
import type { EmbedTokens } from "../capabilities/embed-tokens.ts";
import type { OriginIndex } from "../capabilities/origin-index.ts";
import type { PolicyRegistry } from "../capabilities/policy-registry.ts";
import type { PolicyStore } from "../capabilities/policy-store.ts";
import type { RateLimiter } from "../capabilities/rate-limiter.ts";
import type { RunDirectory } from "../capabilities/run-directory.ts";
import type { RunGateway } from "../capabilities/run-gateway.ts";
import type { RunRecords } from "../capabilities/run-records.ts";
import type { RunIds } from "../capabilities/run-ids.ts";
import type { RegisteredContract } from "../contracts/registered-contract.ts";
import type { ToolSpec } from "../protocol/tool-spec.ts";

/** What the routes stand on; assembled in compose. */
export interface Services {
  readonly authenticator: Authenticator;
  readonly embedTokens: EmbedTokens;
  readonly origins: OriginIndex;
  readonly limits: {
    /** By tenant and actor. */
    readonly callers: RateLimiter;
    /** By address, of requests that nobody we know has sent. */
    readonly addresses: RateLimiter;
  };
  readonly policies: PolicyStore;
  readonly connections: ConnectionStore;
  readonly registry: PolicyRegistry;
  readonly runs: RunGateway;
  readonly runIds: RunIds;
  readonly runRecords: RunRecords;
  readonly directory: RunDirectory;
  readonly queue: ApprovalQueue;
  readonly trail: AuditTrail;
  readonly cursors: Cursors;
  readonly clock: Clock;
  /** Every registered contract, before policy. */
  readonly contracts: readonly RegisteredContract[];
  /** What a model sees of each of them, in the same order. */
  readonly toolSpecs: readonly ToolSpec[];
  /** Models a request may ask for; the first is the default. */
  readonly models: readonly [string, ...string[]];
  /** Serves the files of the chat page. */
  readonly page: (request: Request) => Promise<Response>;
}
