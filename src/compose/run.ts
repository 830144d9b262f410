import { createHttpEgress } from "../adapters/http-egress.ts";
import { createOpenAIModel } from "../adapters/openai-model.ts";
import { systemClock } from "../adapters/system-clock.ts";
import { createPolicyAuthorization } from "../adapters/policy-authorization.ts";
import { systemRandom } from "../adapters/system-random.ts";
import { createApprovalSigner } from "../adapters/jose-approval-signer.ts";
import type { ApprovalDesk, ApprovalSigner } from "../capabilities/approval.ts";
import type { Clock } from "../capabilities/system.ts";
import type { Egress } from "../capabilities/http.ts";
import type { EventEncoder, Mailbox, RunJournal } from "../capabilities/run-journal.ts";
import type { RegisteredContract } from "../contracts/registered.ts";
import { createToolSource } from "../contracts/tool-source.ts";
import type { RawEnv } from "../env.ts";
import type { TenantId } from "../protocol/identity/ids.ts";
import type { RunPorts } from "../loop/open-steps.ts";
import {
  ASSISTANT_TRANSPORT_HEADERS,
  encodeEvent,
  HEARTBEAT,
  TRAILER,
} from "../wire/assistant-transport/encode-event.ts";
import { createInputBound } from "../wire/openai/input-bound.ts";
import { checkedEnv } from "./checked-env.ts";
import { composeConnections } from "./connections.ts";
import { TOOL_HOOKS } from "./hooks.ts";
import { composePolicies } from "./policies.ts";
import { composeTenants } from "./tenant.ts";

/** The clock of everything in a run's object. */
export function composeClock(): Clock {
  return systemClock;
}

/** The encoding that a run's readers get. */
export function composeEncoder(): EventEncoder {
  return {
    headers: ASSISTANT_TRANSPORT_HEADERS,
    heartbeat: HEARTBEAT,
    trailer: TRAILER,
    encode: encodeEvent,
  };
}

/** What a run brings of its own. */
export interface RunParts {
  readonly tenantId: TenantId;
  readonly journal: RunJournal;
  readonly inbox: Mailbox;
  readonly approvals: ApprovalDesk;
  /** The tools of its deployment. */
  readonly contracts: readonly RegisteredContract[];
  readonly limitTime: RunPorts["limitTime"];
}

/** Assembles what the people's side of a run stands on; the tools that it binds are never run. */
export function composeDeciding(
  raw: RawEnv,
  contracts: RunParts["contracts"],
): Pick<RunPorts, "policies" | "source"> & { readonly signer: ApprovalSigner } {
  const env = checkedEnv(raw);
  return {
    signer: createApprovalSigner(env.rootSecret),
    policies: composePolicies(env.policyKv),
    source: createToolSource(contracts, {
      clock: composeClock(),
      runTitle: { set: () => {} },
      egress: composeEgress(),
    }),
  };
}

/**
 * Assembles one run from the raw bindings and what the run brings.
 * Fails: throws on bindings that the Worker would have refused before it came here.
 */
export function composeRun(raw: RawEnv, parts: RunParts): RunPorts {
  const env = checkedEnv(raw);
  const { tenantId, journal, inbox, approvals, contracts, limitTime } = parts;
  const clock = composeClock();
  const tenants = composeTenants(env.tenants);
  const runTitle = {
    set: (title: string): void => journal.append([{ type: "title_set", title }]),
  };
  const egress = composeEgress();
  return {
    clock,
    journal,
    inbox,
    approvals,
    approvalSigner: createApprovalSigner(env.rootSecret),
    limitTime,
    outcomeWaitMs: env.lifetimes.outcomeMs,
    random: systemRandom,
    hooks: TOOL_HOOKS,
    policies: composePolicies(env.policyKv),
    authorizationOf: createPolicyAuthorization,
    broker: composeConnections(env).broker,
    registry: tenants.registry,
    ledger: tenants.ledgerOf(tenantId),
    source: createToolSource(contracts, { clock, runTitle, egress }),
    inputBound: createInputBound(),
    model: createOpenAIModel({ ...env.openai, clock, fetch: send }),
  };
}

function composeEgress(): Egress {
  return createHttpEgress({ clock: composeClock(), fetch: send });
}

function send(request: Request): Promise<Response> {
  return fetch(request);
}
