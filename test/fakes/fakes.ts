import { issueTicket } from "../../src/contracts/dispatch-ticket.ts";
import type { JsonObject } from "../../src/protocol/json/value.ts";
import { createHttpEgress } from "../../src/adapters/http-egress.ts";
import type { Clock } from "../../src/capabilities/system.ts";
import type { Egress } from "../../src/capabilities/http.ts";
import type { RunJournal } from "../../src/capabilities/run-journal.ts";
import type {
  BoundToolRuntime,
  InvocationScope,
  RunCapabilities,
  ToolSourcePort,
} from "../../src/capabilities/tool.ts";
import { routeVersions } from "../../src/contracts/route-versions.ts";
import type { HookContext } from "../../src/protocol/assistant/context.ts";
import type { AiEvent } from "../../src/protocol/run/event.ts";
import type { AuditEntry } from "../../src/protocol/audit/entry.ts";
import { NO_FACTS, type RunFacts } from "../../src/protocol/run/facts.ts";
import type { ToolInvocationRecord } from "../../src/protocol/invocation/record.ts";
import { parseToolPolicy, type ToolPolicy } from "../../src/protocol/policy/document.ts";
import type { ToolSpec } from "../../src/protocol/tool/spec.ts";
import type { TranscriptMessage } from "../../src/protocol/conversation/message.ts";

/** A clock that stands still until a test advances it. */
export class FakeClock implements Clock {
  #nowMs = Date.UTC(2026, 0, 2, 3, 4, 5);
  #tasks: { readonly at: number; readonly task: () => void }[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  schedule(delayMs: number, task: () => void): () => void {
    const entry = { at: this.#nowMs + delayMs, task };
    this.#tasks.push(entry);
    return () => {
      this.#tasks = this.#tasks.filter((other) => other !== entry);
    };
  }

  /** Number of waiting timers. */
  get waiting(): number {
    return this.#tasks.length;
  }

  advance(ms: number): void {
    this.#nowMs += ms;
    const due = this.#tasks.filter(({ at }) => at <= this.#nowMs);
    this.#tasks = this.#tasks.filter(({ at }) => at > this.#nowMs);
    for (const { task } of due) task();
  }
}

/** A journal that keeps everything in memory. */
export class MemoryJournal implements RunJournal {
  readonly events: AiEvent[] = [];
  readonly messages: TranscriptMessage[] = [];
  readonly #records = new Map<number, ToolInvocationRecord>();
  /** The durable records at each wait for durability. */
  readonly secured: (readonly ToolInvocationRecord[])[] = [];
  facts: Partial<RunFacts> = {};

  append(events: readonly AiEvent[]): void {
    this.events.push(...events);
  }

  readonly contexts: HookContext[] = [];

  keepContext(context: HookContext): void {
    this.contexts.push(context);
  }

  remember(message: TranscriptMessage): void {
    this.messages.push(message);
  }

  /** The newest record of each operation, in order. */
  get records(): readonly ToolInvocationRecord[] {
    return [...this.#records.values()];
  }

  record(invocation: ToolInvocationRecord): void {
    this.#records.set(invocation.number, invocation);
  }

  note(facts: Partial<RunFacts>): void {
    this.facts = { ...this.facts, ...facts };
  }

  readonly audits: AuditEntry[] = [];

  audit(entry: AuditEntry): void {
    this.audits.push(entry);
  }

  get storedFacts(): RunFacts {
    return { ...NO_FACTS, ...this.facts };
  }

  flush(): void {}

  secure(): Promise<void> {
    this.secured.push(this.records);
    return Promise.resolve();
  }
}

/**
 * The product's egress with a fake service instead of the network. Without a service, requests
 * fail.
 */
export function fakeEgress(
  answer: (request: Request) => Response | Promise<Response> = () => {
    throw new Error("there is no network");
  },
): Egress {
  return createHttpEgress({ clock: new FakeClock(), fetch: async (request) => answer(request) });
}

/** Capabilities of a run without a network. */
export function fakeRunCapabilities(titles: string[] = []): RunCapabilities {
  return {
    clock: new FakeClock(),
    runTitle: { set: (title) => void titles.push(title) },
    egress: fakeEgress(),
  };
}

/** The scope of an invocation that does not end. */
export function fakeScope(): InvocationScope {
  return {
    signal: new AbortController().signal,
    idempotencyKey: "key",
    progress: { report: () => {} },
    hide: (value) => value,
  };
}

/** Builds a policy from a document, with defaults for the rest. */
export function policyOf(document: object): ToolPolicy {
  const policy = parseToolPolicy(document);
  if (!policy) throw new Error(`no policy: ${JSON.stringify(document)}`);
  return policy;
}

/** The newest version of every tool. */
export function newestOf(source: ToolSourcePort): ReadonlyMap<string, ToolSpec> {
  return routeVersions(source.listToolSpecs(), policyOf({ allowedTools: [] }), { nowMs: 0 });
}

/** Runs a bound tool on validated arguments, without the runner and the gates. */
export function runBound(
  tool: BoundToolRuntime,
  args: JsonObject,
  scope: InvocationScope = fakeScope(),
): ReturnType<BoundToolRuntime["performDispatched"]> {
  const { id: toolId, version } = tool;
  return tool.performDispatched(
    issueTicket({ toolId, version, args, context: {} as never, scope }),
  );
}
