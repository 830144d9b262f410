import { say } from "../texts/say.ts";
import type { ApprovalFailure } from "../approval/api.ts";
import { createButton, el, setText } from "../dom.ts";
import { EntryList } from "./entry-list.ts";
import { createFilters, type Filters } from "./filters.ts";
import type { OpenEntry, QueueSpec } from "./queue-spec.ts";

export interface QueueTabPorts {
  /** Called after each answer about this list. */
  readonly onAnswer: (failure: ApprovalFailure | undefined) => void;
  /** Shows an entry beside the list. */
  readonly onOpen: (id: string, entry: OpenEntry<never>) => void;
  /** The open entry goes on under another id. */
  readonly onRename: (id: string) => void;
  /** The lists are stale. */
  readonly onActed: () => void;
  readonly onSelect?: () => void;
}

/** What the desk needs of a tab, whatever the tab lists. */
export type DeskTab = Omit<QueueTab<unknown>, "items" | "openItem">;

const PAGE = 50;
const LOOK_FURTHER = "Nothing fits so far. “Show more” looks further.";

/** One list of the desk: its filters, its pages, and the entry of it that is open. */
export class QueueTab<Item> {
  readonly spec: Pick<QueueSpec<Item>, "name" | "title" | "keys">;
  readonly root: HTMLElement;
  readonly filters: Filters;
  readonly list: EntryList;
  readonly #spec: QueueSpec<Item>;
  readonly #ports: QueueTabPorts;
  readonly #more = createButton("more", say("Show more"));
  readonly #told = el("p", { class: "note", role: "status" });
  #items: readonly Item[] = [];
  #next: string | undefined;
  #isPaged = false;
  #requests = 0;
  #count = "";
  #isForbidden = false;
  #isLoaded = false;
  #open: { readonly id: string; readonly entry: OpenEntry<Item>; isListed: boolean } | undefined;

  constructor(spec: QueueSpec<Item>, ports: QueueTabPorts, ...extras: readonly HTMLElement[]) {
    this.spec = spec;
    this.#spec = spec;
    this.#ports = ports;
    this.filters = createFilters(spec, {
      onRead: () => void this.refresh(),
      onNarrow: () => this.#draw(),
    });
    this.list = new EntryList(spec, {
      onOpen: (id) => this.openById(id),
      onSelect: () => ports.onSelect?.(),
    });
    this.#more.hidden = true;
    this.#more.addEventListener("click", () => void this.refresh(this.#next));
    const id = `panel-${spec.name}`;
    this.root = el("div", { id, role: "tabpanel", "aria-labelledby": `tab-${spec.name}` });
    this.root.append(this.filters.root, ...extras, this.list.root, this.#told, this.#more);
  }

  /** How many entries wait; empty until the page knows. */
  get count(): string {
    return this.#count;
  }

  /** True when the reader's token may not read this list. */
  get isForbidden(): boolean {
    return this.#isForbidden;
  }

  /** True once the list was read. */
  get isLoaded(): boolean {
    return this.#isLoaded;
  }

  /** True while a refresh would take something away from the reader. */
  get isBusy(): boolean {
    return this.#isPaged || this.list.selected.length > 0;
  }

  get items(): readonly Item[] {
    return this.#items;
  }

  /** Reads the first page, or the page after a cursor. */
  async refresh(cursor?: string): Promise<void> {
    const own = ++this.#requests;
    const query = { ...this.filters.read(), limit: PAGE, ...(cursor && { cursor }) };
    const page = await this.#spec.read(query);
    if (own !== this.#requests) return;
    this.#isLoaded ||= page.ok;
    this.#isForbidden = !page.ok && page.failure.code === "insufficient_scope";
    if (page.ok) {
      const isMore = cursor !== undefined;
      const known = new Set(isMore ? this.#items.map((item) => this.#idOf(item)) : []);
      const added = page.value.items.filter((item) => !known.has(this.#idOf(item)));
      this.#items = isMore ? [...this.#items, ...added] : added;
      this.#next = page.value.next;
      this.#isPaged = isMore;
      if (this.filters.isDefault()) {
        this.#count = `${this.#items.length}${this.#next === undefined ? "" : "+"}`;
      }
      this.#draw();
      this.#tellOpen();
    }
    this.#ports.onAnswer(page.ok ? undefined : page.failure);
  }

  /** Opens an entry of the list. Tells whether the list has it. */
  openById(id: string): boolean {
    const item = this.#items.find((one) => this.#idOf(one) === id);
    if (item !== undefined) this.openItem(item);
    return item !== undefined;
  }

  /** Opens an entry, which the list need not have. */
  openItem(item: Item): void {
    const id = this.#idOf(item);
    const entry = this.#spec.open(item, {
      onNews: (news) => this.#accept(news),
      onActed: this.#ports.onActed,
    });
    this.#open = { id, entry, isListed: this.#items.includes(item) };
    this.list.mark(id);
    this.#ports.onOpen(id, entry);
  }

  /** Forgets the open entry. */
  close(): void {
    this.#open = undefined;
  }

  /** Drops answers that are on their way. */
  dispose(): void {
    this.#requests += 1;
  }

  #idOf(item: Item): string {
    return this.#spec.describe(item).id;
  }

  #draw(): void {
    const all = this.#items.map((item) => this.#spec.describe(item));
    const shown = this.filters.hides() ? all.filter((entry) => this.filters.fits(entry)) : all;
    this.list.show(shown, this.#next !== undefined);
    setText(this.#told, this.#tell(shown.length, all.length));
    this.#more.hidden = this.#next === undefined;
    this.#ports.onSelect?.();
  }

  /** Says how many entries fit, and that others may. */
  #tell(shown: number, all: number): string {
    const fit = this.filters.hides()
      ? say("{shown} of {all} loaded entries fit.", { shown, all })
      : "";
    const further = all === 0 && this.#next !== undefined ? say(LOOK_FURTHER) : "";
    return fit || further;
  }

  /** News of the open entry, or the one that takes its place. */
  #accept(news: Item): void {
    const open = this.#open;
    if (!open) return;
    const id = this.#idOf(news);
    this.#items = this.#items
      .filter((item) => id === open.id || this.#idOf(item) !== id)
      .map((item) => (this.#idOf(item) === open.id ? news : item));
    this.#open = { ...open, id };
    this.#draw();
    if (id === open.id) return;
    this.list.mark(id);
    this.#ports.onRename(id);
  }

  /** Tells the open entry what the list says of it. */
  #tellOpen(): void {
    const open = this.#open;
    if (!open) return;
    const item = this.#items.find((one) => this.#idOf(one) === open.id);
    if (item !== undefined) open.isListed = true;
    // Another page of the list may have it.
    else if (!open.isListed || this.#next !== undefined || !this.filters.isDefault()) return;
    open.entry.update(item);
  }
}
