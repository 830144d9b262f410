import { createExchange, type Exchange, isActive } from "./exchange.ts";
import type { SavedChat } from "../../session-store.ts";

export interface ExchangeListPorts {
  readonly save: (chat: SavedChat) => void;
  readonly onChange: () => void;
}

/**
 * Holds the exchanges of a conversation, which form a tree: an edit and a second answer stand
 * beside the earlier exchange. One path of the tree is shown. Stores what a reload needs.
 */
export class ExchangeList {
  /** The conversation at the server; undefined before the first answer begins. */
  conversationId: string | undefined;
  /** The title at the server; undefined until the page has read it. */
  title: string | undefined;
  /** Where the turns before the loaded ones begin; undefined: all are loaded. */
  earlier: string | undefined;
  readonly #ports: ExchangeListPorts;
  #nodes: readonly Exchange[] = [];
  #byKey: ReadonlyMap<number, Exchange> = new Map();
  #path: readonly Exchange[] = [];
  #tip: number | undefined;
  #nextKey = 0;

  constructor(ports: ExchangeListPorts) {
    this.#ports = ports;
  }

  /** The exchanges on the shown path, in their order. */
  get all(): readonly Exchange[] {
    return this.#path;
  }

  /** All exchanges that the page has, as the server orders their turns. */
  get nodes(): readonly Exchange[] {
    return this.#nodes;
  }

  get isBusy(): boolean {
    return this.#path.some(isActive);
  }

  find(key: number | undefined): Exchange | undefined {
    return key === undefined ? undefined : this.#byKey.get(key);
  }

  /** The exchanges that continue the same turn, in their order. */
  siblings({ after, parentId }: Exchange): readonly Exchange[] {
    return this.#nodes.filter((node) => node.after === after && node.parentId === parentId);
  }

  /** The run that an exchange continues: that of the nearest exchange before it that has one. */
  runBefore(key: number): string | undefined {
    for (let node = this.find(key); node;) {
      const before = this.find(node.after);
      if (!before) return node.parentId;
      if (before.runId !== undefined) return before.runId;
      node = before;
    }
    return undefined;
  }

  /** The run of the newest turn that the page knows. */
  get headId(): string | undefined {
    return this.#nodes.findLast(({ runId }) => runId !== undefined)?.runId;
  }

  /** Forgets all exchanges: another conversation, or a new one, takes their place. */
  open(conversationId: string | undefined): void {
    this.conversationId = conversationId;
    this.title = undefined;
    this.earlier = undefined;
    this.set([], undefined);
    this.save();
  }

  /** Adds a question at the end of the shown path, or beside another exchange. */
  add({ question, files }: Pick<Exchange, "question" | "files">, beside?: Exchange): Exchange {
    const { after, parentId } = beside ?? { after: this.#tip };
    const exchange = { ...this.create(question), files, after, parentId };
    this.set([...this.#nodes, exchange], exchange.key);
    this.save();
    return exchange;
  }

  /** Creates an exchange that is in no list yet. */
  create(question: string): Exchange {
    this.#nextKey += 1;
    return createExchange(this.#nextKey, question);
  }

  /** Replaces all exchanges, and shows the path that ends at `tip`. */
  set(nodes: readonly Exchange[], tip: number | undefined): void {
    this.#nodes = nodes;
    this.#byKey = new Map(nodes.map((node) => [node.key, node]));
    this.#tip = tip;
    const path: Exchange[] = [];
    for (let node = this.find(tip); node; node = this.find(node.after)) path.push(node);
    this.#path = path.toReversed();
  }

  /** Shows the path through an exchange, to the newest one after it. */
  show(key: number): void {
    let tip = key;
    for (let next: Exchange | undefined; ; tip = next.key) {
      next = this.#nodes.findLast(({ after }) => after === tip);
      if (!next) break;
    }
    this.set(this.#nodes, tip);
  }

  patch(key: number, change: Partial<Exchange>): void {
    const nodes = this.#nodes.map((node) => (node.key === key ? { ...node, ...change } : node));
    this.set(nodes, this.#tip);
    this.#ports.onChange();
  }

  /** Removes an exchange that no run answers. What continued it continues the one before. */
  remove({ key, after, parentId }: Exchange): void {
    const nodes = this.#nodes
      .map((node) => (node.after === key ? { ...node, after, parentId } : node))
      .filter((node) => node.key !== key);
    this.set(nodes, this.#tip === key ? after : this.#tip);
    this.save();
  }

  save(): void {
    const { conversationId } = this;
    const sent = this.#nodes.findLast(({ runId, request }) => runId === undefined && request);
    this.#ports.save({
      ...(conversationId !== undefined && { conversationId }),
      ...(sent?.request && { unanswered: { question: sent.question, request: sent.request } }),
    });
  }
}
