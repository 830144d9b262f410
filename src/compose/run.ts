import { createHttpEgress } from "../adapters/http-egress.ts";
import { createOpenAIModel } from "../adapters/openai-model.ts";
import { systemClock } from "../adapters/system-clock.ts";
import { createPolicyAuthorization } from "../adapters/policy-authorization.ts";
import { systemRandom } from "../adapters/system-random.ts";
import type { Clock } from "../capabilities/clock.ts";
import type { EventEncoder } from "../capabilities/event-encoder.ts";
import type { Mailbox } from "../capabilities/inbox.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import type { RegisteredContract } from "../contracts/registered-contract.ts";
import { createToolSource } from "../contracts/static-tool-source.ts";
import type { RawEnv } from "../env.ts";
import type { TenantId } from "../protocol/ids.ts";
import type { RunPorts } from "../loop/open-steps.ts";
import {
  ASSISTANT_TRANSPORT_HEADERS,
  encodeEvent,
  HEARTBEAT,
} from "../wire/assistant-transport/encode-event.ts";
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
  return { headers: ASSISTANT_TRANSPORT_HEADERS, heartbeat: HEARTBEAT, encode: encodeEvent };
}

/** What a run brings of its own. */
export interface RunParts {
  readonly tenantId: TenantId;
  readonly journal: RunJournal;
  readonly inbox: Mailbox;
  /** The tools of its deployment. */
  readonly contracts: readonly RegisteredContract[];
  readonly limitTime: RunPorts["limitTime"];
}

/**
 * Assembles one run from the raw bindings and what the run brings.
 * Fails: throws on bindings that the Worker would have refused before it came here.
 */
export function composeRun(raw: RawEnv, parts: RunParts): RunPorts {
  const env = checkedEnv(raw);
  const { tenantId, journal, inbox, contracts, limitTime } = parts;
  const clock = composeClock();
  const runTitle = {
    set: (title: string): void => journal.append([{ type: "title_set", title }]),
  };
  const send = (request: Request): Promise<Response> => fetch(request);
  const egress = createHttpEgress({ clock, fetch: send });
  return {
    clock,
    journal,
    inbox,
    limitTime,
    outcomeWaitMs: env.lifetimes.outcomeMs,
    random: systemRandom,
    hooks: TOOL_HOOKS,
    policies: composePolicies(env.policyKv),
    authorizationOf: createPolicyAuthorization,
    broker: composeConnections(env).broker,
    ledger: composeTenants(env.tenants).ledgerOf(tenantId),
    source: createToolSource(contracts, { clock, runTitle, egress }),
    model: createOpenAIModel({ ...env.openai, clock, fetch: send }),
  };
}
