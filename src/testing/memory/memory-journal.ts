import { RunInvocations } from "../../run/invocations.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { HookContext } from "../../protocol/assistant/context.ts";
import type { AuditEntry } from "../../protocol/audit/entry.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import type { ToolInvocationRecord } from "../../protocol/invocation/record.ts";
import type { AiEvent } from "../../protocol/run/event.ts";
import { NO_FACTS, type RunFacts } from "../../protocol/run/facts.ts";

/** A journal that keeps everything in memory. */
export class MemoryJournal implements RunJournal {
  readonly events: AiEvent[] = [];
  readonly messages: TranscriptMessage[] = [];
  readonly invocations = new RunInvocations({ put: () => {} }, new Map());
  readonly audits: AuditEntry[] = [];
  readonly contexts: HookContext[] = [];
  /** Content of kept files, by hash. */
  readonly files = new Map<string, string>();
  /** The durable records at each wait for durability. */
  readonly secured: (readonly ToolInvocationRecord[])[] = [];
  facts: Partial<RunFacts> = {};

  append(events: readonly AiEvent[]): void {
    this.events.push(...events);
  }

  keepFile(hash: string, base64: string): void {
    this.files.set(hash, base64);
  }

  keepContext(context: HookContext): void {
    this.contexts.push(context);
  }

  remember(message: TranscriptMessage): void {
    this.messages.push(message);
  }

  /** The newest record of each operation, in order. */
  get records(): readonly ToolInvocationRecord[] {
    return this.invocations.all();
  }

  record(invocation: ToolInvocationRecord): void {
    this.invocations.put(invocation);
  }

  note(facts: Partial<RunFacts>): void {
    this.facts = { ...this.facts, ...facts };
  }

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
