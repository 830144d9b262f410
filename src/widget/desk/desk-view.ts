import { say } from "../texts/say.ts";
import type { ApprovalFailure } from "../approval/api.ts";
import type { ApprovalInfo } from "../approval/info.ts";
import type { LinkedConsent, QueueApi, UndeliveredNotification } from "../approval/queue-api.ts";
import { el, setText } from "../dom.ts";
import { createFrame, readHash } from "../panes/frame.ts";
import type { PaneView } from "../panes/pane-element.ts";
import { SignIn, type SignInPorts } from "../panes/sign-in.ts";
import { consentsOf, undeliveredOf } from "./action-lists.ts";
import { ActionSection } from "./action-section.ts";
import { approvalsQueue, budgetQueue } from "./approval-queues.ts";
import { BulkBar } from "./bulk-bar.ts";
import { escalationsQueue } from "./escalations-queue.ts";
import { Keyboard } from "./keyboard.ts";
import { outcomesQueue } from "./outcomes-queue.ts";
import type { OpenEntry } from "./queue-spec.ts";
import { type DeskTab, QueueTab } from "./queue-tab.ts";
import { TabBar } from "./tab-bar.ts";

/** The list in sight is read this often, and all lists each third time. */
const REFRESH_MS = 5_000;
const WORDS = {
  title: "Operators’ desk",
  back: "Back to the list",
  hint: "Select an entry to see what it is about. Press ? to see the keys.",
} as const;

/** The operators' desk: what waits for people, in four lists, and the open entry. */
export class DeskView implements PaneView {
  readonly root: HTMLElement;
  readonly #api: QueueApi;
  readonly #frame;
  readonly #keyboard: Keyboard;
  readonly #hint = el("p", { class: "note", role: "status" });
  readonly #approvals: QueueTab<ApprovalInfo>;
  readonly #budget: QueueTab<ApprovalInfo>;
  readonly #tabs: readonly DeskTab[];
  readonly #bar: TabBar;
  readonly #bulk: BulkBar;
  readonly #undelivered: ActionSection<UndeliveredNotification>;
  readonly #consents: ActionSection<LinkedConsent>;
  readonly #signIn: SignIn;
  readonly #onHash = (): void => void this.#openNamed();
  #active: DeskTab;
  #open: OpenEntry<never> | undefined;
  /** The button whose key was pressed once. */
  #pressed: Element | undefined;
  #hasOpenedNamed = false;
  #ticks = 0;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(api: QueueApi, ports: SignInPorts, host: HTMLElement) {
    this.#api = api;
    this.#keyboard = new Keyboard(host, this.#keyActions());
    this.#frame = createFrame(
      { title: say(WORDS.title), back: say(WORDS.back), hint: say(WORDS.hint) },
      this.#keyboard.button,
    );
    this.#signIn = new SignIn(ports, () => this.#refreshAll());
    this.#bulk = new BulkBar(api, () => this.#refreshAll());
    this.#undelivered = new ActionSection(undeliveredOf(api));
    this.#consents = new ActionSection(consentsOf(api));
    const portsOf = (find: () => DeskTab) => ({
      onAnswer: (failure?: ApprovalFailure) => this.#accept(find(), failure),
      onOpen: (id: string, entry: OpenEntry<never>) => this.#show(find(), id, entry),
      onRename: (id: string) => setHash(id),
      onActed: () => this.#refreshAll(),
    });
    const onSelect = (): void => this.#drawBulk();
    const toApprovals = { ...portsOf(() => this.#approvals), onSelect };
    this.#approvals = new QueueTab(approvalsQueue(api), toApprovals, this.#bulk.root);
    this.#budget = new QueueTab(
      budgetQueue(api),
      portsOf(() => this.#budget),
    );
    const outcomes: DeskTab = new QueueTab(
      outcomesQueue(api),
      portsOf(() => outcomes),
    );
    const escalations: DeskTab = new QueueTab(
      escalationsQueue(api),
      portsOf(() => escalations),
    );
    this.#tabs = [this.#approvals, this.#budget, outcomes, escalations];
    this.#active = this.#approvals;
    this.#bar = new TabBar(this.#tabs, (tab) => this.#select(tab));
    this.root = this.#frame.root;
    this.#arrange();
  }

  /** Reads every list now, and again at intervals. */
  start(): void {
    this.#keyboard.start();
    window.addEventListener("hashchange", this.#onHash);
    this.#tabNamed(readHash()).filters.take();
    this.#bar.draw(this.#active);
    this.#refreshAll();
    this.#timer = setInterval(() => {
      if (document.visibilityState !== "visible") return;
      this.#ticks += 1;
      if (this.#ticks % 3 === 0) this.#refreshAll({ isQuiet: true });
      else if (!this.#active.isBusy) void this.#active.refresh();
    }, REFRESH_MS);
  }

  dispose(): void {
    this.#keyboard.dispose();
    window.removeEventListener("hashchange", this.#onHash);
    clearInterval(this.#timer);
    for (const tab of this.#tabs) tab.dispose();
  }

  #arrange(): void {
    const { side, notice, reload, back } = this.#frame;
    const panels = this.#tabs.map((tab) => tab.root);
    const kept = [this.#undelivered.root, this.#consents.root];
    side.append(this.#bar.root, notice, ...panels, ...kept, this.#signIn.root);
    this.root.append(this.#hint, this.#keyboard.root);
    this.#hint.className = "note key-hint";
    reload.addEventListener("click", () => this.#refreshAll());
    back.addEventListener("click", () => this.#back());
  }

  /** A quiet refresh leaves a list alone in which the reader selects or leafs. */
  #refreshAll({ isQuiet = false } = {}): void {
    for (const tab of this.#tabs) if (!isQuiet || !tab.isBusy) void tab.refresh();
    void this.#undelivered.refresh();
    void this.#consents.refresh();
  }

  #accept(tab: DeskTab, failure: ApprovalFailure | undefined): void {
    this.#bar.draw(this.#active);
    if (tab !== this.#active) return;
    setText(this.#frame.notice, this.#signIn.accept(failure));
    if (!failure?.needsToken && !this.#hasOpenedNamed) void this.#openNamed();
  }

  #drawBulk(): void {
    const selected = new Set(this.#approvals.list.selected);
    this.#bulk.update(this.#approvals.items.filter(({ approvalId }) => selected.has(approvalId)));
  }

  #select(tab: DeskTab): void {
    this.#active = tab;
    // On a phone the open entry hides the list that the reader selected.
    delete this.root.dataset["open"];
    setHash(tab.spec.name);
    tab.filters.keep();
    this.#bar.draw(tab);
    void tab.refresh();
  }

  #show(tab: DeskTab, id: string, entry: OpenEntry<never>): void {
    for (const other of this.#tabs) {
      if (other !== tab) other.close();
      if (other !== tab) other.list.mark("");
    }
    this.#active = tab;
    this.#open = entry;
    this.#unpress();
    this.#bar.draw(tab);
    setHash(id);
    tab.filters.keep();
    const { detail, back } = this.#frame;
    detail.replaceChildren(back, entry.root);
    this.root.dataset["open"] = "";
    entry.root.tabIndex = -1;
    entry.root.focus();
  }

  #back(): void {
    this.#unpress();
    delete this.root.dataset["open"];
    this.#active.list.focus();
  }

  /** Opens what the address names: a list, or an entry. */
  async #openNamed(): Promise<void> {
    this.#hasOpenedNamed = true;
    const name = readHash();
    const tab = this.#tabs.find(({ spec }) => spec.name === name);
    if (tab) return this.#select(tab);
    if (name === "") return;
    if (name.startsWith("appr_")) return this.#openApproval(name);
    const owner = this.#tabNamed(name);
    await owner.refresh();
    if (owner.openById(name)) return;
    setText(
      this.#frame.notice,
      say("Nobody has to look at this entry any more, or you may not see it."),
    );
  }

  /** The list that the address names, by itself or by an entry. */
  #tabNamed(name: string): DeskTab {
    const isApproval = name === "" || name.startsWith("appr_");
    const list = name.startsWith("esc_") ? "escalations" : "outcomes";
    return (
      this.#tabs.find(({ spec }) => spec.name === name) ??
      (isApproval ? undefined : this.#tabs.find(({ spec }) => spec.name === list)) ??
      this.#approvals
    );
  }

  async #openApproval(name: string): Promise<void> {
    const named = await this.#api.read(name);
    if (named.ok) {
      const tab = named.value.asks === "raise" ? this.#budget : this.#approvals;
      tab.openItem(named.value);
    } else if (!named.failure.needsToken) setText(this.#frame.notice, named.failure.message);
  }

  #keyActions() {
    return {
      step: (by: number) => {
        delete this.root.dataset["open"];
        this.#unpress();
        const hasMoved = this.#active.list.step(by);
        if (!hasMoved && !this.#active.isLoaded) this.#tell(say("The list is being loaded."));
      },
      back: () => this.#back(),
      search: () => this.#active.filters.search(),
      show: (place: number) => {
        const tab = this.#tabs[place - 1];
        if (tab && !tab.isForbidden) this.#select(tab);
      },
      press: (key: "a" | "r") => this.#press(key),
      names: () => this.#active.spec.keys,
    };
  }

  /** Presses a button by its key; where money may move, the second time. */
  #press(key: "a" | "r"): void {
    const buttons = this.#open?.root.querySelectorAll<HTMLButtonElement>(
      `[aria-keyshortcuts="${key}"]`,
    );
    const button = [...(buttons ?? [])].find((one) => one.checkVisibility());
    if (!this.#open) return this.#tell(say("Open an entry first, then press {key}.", { key }));
    if (!button) return this.#tell(say("This entry has nothing for {key} now.", { key }));
    if (button.disabled) {
      return this.#tell(
        say("“{name}” is not ready. Look at what the entry asks.", { name: button.textContent }),
      );
    }
    if (this.#open.needsSecondPress() && this.#pressed !== button) {
      button.focus();
      this.#pressed = button;
      return this.#tell(say("Press {key} again: {name}.", { key, name: button.textContent }));
    }
    this.#unpress();
    button.click();
  }

  #tell(text: string): void {
    setText(this.#hint, text);
  }

  #unpress(): void {
    this.#pressed = undefined;
    this.#tell("");
  }
}

/** Names in the address what is shown, so that the address can be sent on. */
function setHash(name: string): void {
  history.replaceState(history.state, "", `#${encodeURIComponent(name)}`);
}
