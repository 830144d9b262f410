import type { Answer } from "../approval/api.ts";
import type { Page } from "../approval/queue-api.ts";

/** One choice of a filter: how the address names it, and its name for the reader. */
export type Choice = readonly [value: string, name: string];

/** What a list is asked for. */
export interface QueueQuery {
  /** The choice of "Show". */
  readonly show: string;
  readonly kind?: string;
  readonly tool?: string;
  readonly person?: string;
  readonly assistant?: string;
  readonly limit: number;
  readonly cursor?: string;
}

/** How an entry looks in its list. */
export interface Entry {
  readonly id: string;
  readonly name: string;
  readonly facts: readonly string[];
  /** A risk class, which stands before the facts. */
  readonly risk?: { readonly className: string; readonly label: string } | undefined;
  readonly status?: string;
  /** The kinds that it has; see `QueueSpec`. */
  readonly kinds: readonly string[];
  /** When it began, in ISO 8601. */
  readonly since: string;
  /** Present where it may be decided together with others. */
  readonly canSelect?: boolean;
}

/** What an open entry can tell the desk. */
export interface OpenPorts<Item> {
  /** Called with a newer state, or with the item that takes the place of this one. */
  readonly onNews: (item: Item) => void;
  /** Called after an action; the lists are stale. */
  readonly onActed: () => void;
}

/** An entry that the reader opened. Its buttons name their keys in `aria-keyshortcuts`. */
export interface OpenEntry<Item> {
  readonly root: HTMLElement;
  /** Accepts the newest state in the list; undefined when the list does not have it any more. */
  update(item: Item | undefined): void;
  /** True where the key of a button has to be pressed twice. */
  needsSecondPress(): boolean;
}

/** One list of the desk. */
export interface QueueSpec<Item> {
  /** Names the list in the address. */
  readonly name: string;
  readonly title: string;
  /** What an empty list says. */
  readonly none: string;
  /** The choices of "Show", each with its name; the first one holds what waits for people. */
  readonly shows: readonly Choice[];
  /** The kinds to filter by, likewise. */
  readonly kinds: readonly Choice[];
  /** Says what `a` and `r` do, for the table of keys. */
  readonly keys: readonly [a: string, r: string];
  read(query: QueueQuery): Answer<Page<Item>>;
  describe(item: Item): Entry;
  open(item: Item, ports: OpenPorts<Item>): OpenEntry<Item>;
}
