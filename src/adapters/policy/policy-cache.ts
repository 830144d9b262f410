import type { TenantId } from "../../protocol/identity/ids.ts";
import type { PolicyPin } from "../../protocol/policy/pin.ts";
import type { ToolPolicy } from "../../protocol/policy/document.ts";

/** Cached pointers; the oldest is dropped first. */
const MAX_POINTERS = 1_000;
/** Characters of all cached documents. Parsed documents take a few times as much of 128 MB. */
const MAX_DOCUMENT_CHARS = 4 * 1024 * 1024;

interface KeptPointer {
  readonly pin: PolicyPin;
  readonly untilMs: number;
}

interface KeptDocument {
  readonly policy: ToolPolicy;
  readonly chars: number;
}

/**
 * The policy cache of an isolate: pointers for a limited time, documents without one, both bounded.
 */
export class PolicyCache {
  readonly #pointers = new Map<TenantId, KeptPointer>();
  readonly #documents = new Map<string, KeptDocument>();
  #chars = 0;

  pointerOf(tenantId: TenantId): KeptPointer | undefined {
    return this.#pointers.get(tenantId);
  }

  keepPointer(tenantId: TenantId, pointer: KeptPointer): void {
    this.#pointers.delete(tenantId);
    this.#pointers.set(tenantId, pointer);
    const [oldest] = this.#pointers.keys();
    if (oldest !== undefined && this.#pointers.size > MAX_POINTERS) this.#pointers.delete(oldest);
  }

  documentOf(key: string): ToolPolicy | undefined {
    return this.#documents.get(key)?.policy;
  }

  keepDocument(key: string, policy: ToolPolicy, chars: number): void {
    this.#drop(key);
    this.#documents.set(key, { policy, chars });
    this.#chars += chars;
    for (const [oldest] of this.#documents) {
      if (this.#chars <= MAX_DOCUMENT_CHARS) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#chars -= this.#documents.get(key)?.chars ?? 0;
    this.#documents.delete(key);
  }
}
