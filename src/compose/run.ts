import { createOpenAIModel } from "../adapters/openai-model.ts";
import { systemClock } from "../adapters/system-clock.ts";
import type { Clock } from "../capabilities/clock.ts";
import type { EventEncoder } from "../capabilities/event-encoder.ts";
import type { RunJournal } from "../capabilities/run-journal.ts";
import { createToolSource } from "../contracts/static-tool-source.ts";
import type { AnyToolContract } from "../contracts/tool-contract.ts";
import type { RawEnv } from "../env.ts";
import type { RunPorts } from "../loop/run-loop.ts";
import {
  ASSISTANT_TRANSPORT_HEADERS,
  encodeEvent,
  HEARTBEAT,
} from "../wire/assistant-transport/encode-event.ts";
import { checkedEnv } from "./checked-env.ts";
import { composePolicies } from "./policies.ts";

/** The clock of everything in a run's object. */
export function composeClock(): Clock {
  return systemClock;
}

/** The encoding that a run's readers get. */
export function composeEncoder(): EventEncoder {
  return { headers: ASSISTANT_TRANSPORT_HEADERS, heartbeat: HEARTBEAT, encode: encodeEvent };
}

/**
 * Assembles one run from the raw bindings, the run's own journal and the tools of its deployment.
 * Fails: throws on bindings that the Worker would have refused before it came here.
 */
export function composeRun(
  raw: RawEnv,
  journal: RunJournal,
  contracts: readonly AnyToolContract[],
): RunPorts {
  const { openai, policyKv } = checkedEnv(raw);
  const clock = composeClock();
  const runTitle = {
    set: (title: string): void => journal.append([{ type: "title_set", title }]),
  };
  return {
    clock,
    journal,
    policies: composePolicies(policyKv),
    source: createToolSource(contracts, { clock, runTitle }),
    model: createOpenAIModel({ ...openai, clock, fetch: (request: Request) => fetch(request) }),
  };
}
