import { type ApprovalInfo, joinNews } from "./info.ts";
import { formatRisk, formatTimeLeft } from "./labels.ts";
import { el } from "../dom.ts";

export interface ApprovalsListPorts {
  readonly onOpen: (approval: ApprovalInfo) => void;
  readonly onSelect: () => void;
}

/** Lists approvals. Those that may be decided together can be selected. */
export class ApprovalsList {
  readonly root: HTMLElement;
  readonly #ports: ApprovalsListPorts;
  readonly #items = el("ul", { "aria-label": "Approvals" });
  readonly #none = el("p", { class: "note", hidden: "" }, "This list has no approvals.");
  readonly #selected = new Set<string>();
  #shown: readonly ApprovalInfo[] = [];
  #openId = "";
  #isPaged = false;

  constructor(ports: ApprovalsListPorts) {
    this.#ports = ports;
    this.root = el("div", { class: "queue" }, this.#none, this.#items);
  }

  /** The approvals to decide together. */
  get selected(): readonly ApprovalInfo[] {
    return this.#shown.filter(({ approvalId }) => this.#selected.has(approvalId));
  }

  /** True when more than the first page is shown. */
  get isPaged(): boolean {
    return this.#isPaged;
  }

  /** Shows a page of the queue: after the earlier pages when `isMore`, otherwise alone. */
  show(approvals: readonly ApprovalInfo[], { isMore }: { readonly isMore: boolean }): void {
    const known = new Set(this.#shown.map(({ approvalId }) => approvalId));
    const added = approvals.filter(({ approvalId }) => !known.has(approvalId));
    this.#shown = isMore ? [...this.#shown, ...added] : approvals;
    this.#isPaged = isMore;
    const shown = new Set(this.#shown.map(({ approvalId }) => approvalId as string));
    for (const id of this.#selected) if (!shown.has(id)) this.#selected.delete(id);
    this.#draw();
  }

  /** Accepts news of one of the approvals. */
  update(news: ApprovalInfo): void {
    this.#shown = this.#shown.map((one) =>
      one.approvalId === news.approvalId ? joinNews(one, news) : one,
    );
    if (news.status !== "pending") this.#selected.delete(news.approvalId);
    this.#draw();
  }

  /** Shows an approval's successor in its place. */
  replace(approvalId: string, next: ApprovalInfo): void {
    this.#shown = this.#shown
      .filter((one) => one.approvalId !== next.approvalId)
      .map((one) => (one.approvalId === approvalId ? next : one));
    this.#selected.delete(approvalId);
    this.#draw();
  }

  /** Marks the open approval. */
  mark(approvalId: string): void {
    this.#openId = approvalId;
    this.#draw();
  }

  focus(): void {
    this.#items.querySelector<HTMLElement>('[aria-current="true"]')?.focus();
  }

  #draw(): void {
    const key = focusedKey(this.#items);
    this.#items.replaceChildren(...this.#shown.map((one, at) => this.#drawItem(one, at)));
    this.#none.hidden = this.#shown.length > 0;
    if (key !== undefined) {
      this.#items.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
    }
  }

  #drawItem(approval: ApprovalInfo, at: number): HTMLElement {
    const { approvalId, riskClass, status } = approval;
    const button = drawEntry(approval, `b${at}`);
    if (approvalId === this.#openId) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => this.#ports.onOpen(approval));
    const item = el("li", { "data-risk": riskClass, "data-status": status });
    if (maySelect(approval)) item.append(this.#drawBox(approval, `c${at}`));
    item.append(button);
    return item;
  }

  #drawBox({ approvalId, title }: ApprovalInfo, key: string): HTMLElement {
    const label = `Select ${title}`;
    const box = el("input", { type: "checkbox", "aria-label": label, "data-key": key });
    box.checked = this.#selected.has(approvalId);
    box.addEventListener("change", () => {
      if (box.checked) this.#selected.add(approvalId);
      else this.#selected.delete(approvalId);
      this.#ports.onSelect();
    });
    return box;
  }
}

function drawEntry(approval: ApprovalInfo, key: string): HTMLElement {
  const { title, requestedBy, riskClass, status } = approval;
  const leftMs = Date.parse(approval.expiresAt) - Date.now();
  const state = status === "pending" ? formatTimeLeft(leftMs) : status;
  const risk = el("span", { class: "risk" }, formatRisk(riskClass));
  const summary = el("span", { class: "entry-facts" }, risk, el("bdi", {}, requestedBy), state);
  const name = el("bdi", { class: "name" }, title);
  return el("button", { type: "button", "data-key": key }, name, summary);
}

/** A critical call is always decided on its own. */
function maySelect({ requirements, riskClass, status }: ApprovalInfo): boolean {
  const isBulk = requirements.every((rule) => rule.isBulk) && riskClass !== "CRITICAL_MUTATION";
  return isBulk && status === "pending";
}

function focusedKey(element: HTMLElement): string | undefined {
  return element.querySelector<HTMLElement>("[data-key]:focus")?.dataset["key"];
}
