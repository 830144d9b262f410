import { ApprovalCard } from "./card.ts";
import type { ApprovalInfo } from "./info.ts";
import type { QueueApi } from "./queue-api.ts";
import { ApprovalsList } from "./list.ts";
import { consentsOf, undeliveredOf } from "./action-lists.ts";
import { ActionSection } from "./action-section.ts";
import type { ConsentInfo } from "./consent-info.ts";
import type { NotificationInfo } from "./notification-info.ts";
import { EscalationSection } from "./escalation-section.ts";
import { OutcomeSection } from "./outcome-section.ts";
import { BulkBar } from "./bulk-bar.ts";
import { createFilter, FILTERS } from "./filter.ts";
import { setText } from "../dom.ts";
import { createFrame, readHash } from "../panes/frame.ts";
import { SignIn, type SignInPorts } from "../panes/sign-in.ts";

const REFRESH_MS = 15_000;
const WORDS = {
  title: "Approvals",
  back: "All approvals",
  hint: "Select an approval to see what the call would do.",
};

/** Shows the approval queue and the open approval. */
export class ApprovalsView {
  readonly root: HTMLElement;
  readonly #api: QueueApi;
  readonly #filter = createFilter();
  readonly #frame = createFrame(WORDS, this.#filter);
  readonly #list = new ApprovalsList({
    onOpen: (approval) => this.#open(approval),
    onSelect: () => this.#bulk.update(this.#list.selected),
  });
  readonly #bulk: BulkBar;
  readonly #outcomes: OutcomeSection;
  readonly #escalations: EscalationSection;
  readonly #undelivered: ActionSection<NotificationInfo>;
  readonly #consents: ActionSection<ConsentInfo>;
  readonly #signIn: SignIn;
  #next: string | undefined;
  #requests = 0;
  #openId = "";
  #hasOpenedNamed = false;
  #timer: ReturnType<typeof setInterval> | undefined;

  constructor(api: QueueApi, ports: SignInPorts) {
    this.#api = api;
    this.#signIn = new SignIn(ports, () => void this.#refresh());
    this.#bulk = new BulkBar(api, () => void this.#refresh());
    this.#outcomes = new OutcomeSection(api);
    this.#escalations = new EscalationSection(api);
    this.#undelivered = new ActionSection(undeliveredOf(api));
    this.#consents = new ActionSection(consentsOf(api));
    const { root, side, more, notice } = this.#frame;
    this.root = root;
    const queue = [this.#bulk.root, this.#list.root, more];
    side.append(
      this.#outcomes.root,
      this.#escalations.root,
      this.#undelivered.root,
      ...queue,
      this.#consents.root,
      notice,
      this.#signIn.root,
    );
    this.#listen();
  }

  /** Reads the queue now, and again at intervals. */
  start(): void {
    void this.#refresh();
    this.#timer = setInterval(() => {
      // A refresh would remove loaded pages and change the list under a selection.
      const isIdle = this.#list.selected.length === 0 && !this.#list.isPaged;
      if (isIdle && document.visibilityState === "visible") void this.#refresh();
    }, REFRESH_MS);
  }

  /** Stops reading the queue. */
  dispose(): void {
    clearInterval(this.#timer);
    this.#requests += 1;
  }

  #listen(): void {
    const { root, reload, more, back } = this.#frame;
    this.#filter.addEventListener("change", () => {
      // On a phone the open approval hides the list that the reader selected.
      delete root.dataset["open"];
      void this.#refresh();
    });
    reload.addEventListener("click", () => void this.#refresh());
    more.addEventListener("click", () => void this.#refresh(this.#next));
    back.addEventListener("click", () => {
      delete root.dataset["open"];
      this.#list.focus();
    });
  }

  async #refresh(cursor?: string): Promise<void> {
    this.#requests += 1;
    const own = this.#requests;
    if (cursor === undefined) {
      void this.#outcomes.refresh();
      void this.#escalations.refresh();
      void this.#undelivered.refresh();
      void this.#consents.refresh();
    }
    const [, query = {}] = FILTERS[Number(this.#filter.value)] ?? [];
    const page = await this.#api.list({ ...query, limit: "50", ...(cursor && { cursor }) });
    if (own !== this.#requests) return;
    setText(this.#frame.notice, this.#signIn.accept(page.ok ? undefined : page.failure));
    if (page.ok) {
      this.#next = page.value.next;
      this.#list.show(page.value.approvals, { isMore: cursor !== undefined });
    }
    this.#frame.more.hidden = this.#next === undefined;
    this.#bulk.update(this.#list.selected);
    const isSignedIn = page.ok || !page.failure.needsToken;
    if (isSignedIn && !this.#hasOpenedNamed) void this.#openNamed();
  }

  #open(approval: ApprovalInfo): void {
    const { root, detail, back } = this.#frame;
    this.#name(approval);
    const onChange = (news: ApprovalInfo) => this.#accept(news);
    const card = new ApprovalCard({ api: this.#api, isStreamed: false, onChange }, approval);
    detail.replaceChildren(back, card.root);
    root.dataset["open"] = "";
    card.root.tabIndex = -1;
    card.root.focus();
  }

  /** Writes the id of the open approval into the address, so that the address can be sent on. */
  #name({ approvalId }: ApprovalInfo): void {
    this.#openId = approvalId;
    history.replaceState(history.state, "", `#${encodeURIComponent(approvalId)}`);
    this.#list.mark(approvalId);
  }

  /** A new approval takes the place of the open one that it supersedes. */
  #accept(news: ApprovalInfo): void {
    if (news.approvalId === this.#openId) return this.#list.update(news);
    this.#list.replace(this.#openId, news);
    this.#name(news);
  }

  /** Opens the approval that the address names. */
  async #openNamed(): Promise<void> {
    this.#hasOpenedNamed = true;
    const name = readHash();
    if (name === "") return;
    if (name.startsWith("esc_")) return this.#escalations.show(name);
    const named = await this.#api.read(name);
    if (named.ok) this.#open(named.value);
    else if (!named.failure.needsToken) setText(this.#frame.notice, named.failure.message);
  }
}
