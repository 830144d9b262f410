import { type ApprovalInfo, joinNews } from "./info.ts";
import { formatRisk, formatTimeLeft } from "./labels.ts";
import { el } from "../dom.ts";

export interface ApprovalsList {
  readonly root: HTMLElement;
  /** Those that are to be decided together. */
  readonly selected: readonly ApprovalInfo[];
  /** More than the first page is shown. */
  readonly isPaged: boolean;
  /** Shows a page of the queue, in place of the ones before or behind them. */
  show(approvals: readonly ApprovalInfo[], options: { readonly isMore: boolean }): void;
  /** Takes news of one of them. */
  note(approval: ApprovalInfo): void;
  /** Puts another question into the place of one. */
  replace(approvalId: string, next: ApprovalInfo): void;
  /** Marks the one that is open. */
  mark(approvalId: string): void;
  focus(): void;
}

export interface ApprovalsListPorts {
  readonly onOpen: (approval: ApprovalInfo) => void;
  readonly onSelect: () => void;
}

/** Lists questions; those that may be decided together can be selected. */
export function createApprovalsList({ onOpen, onSelect }: ApprovalsListPorts): ApprovalsList {
  const items = el("ul", { "aria-label": "Questions" });
  const none = el("p", { class: "note", hidden: "" }, "Nothing here.");
  const root = el("div", { class: "queue" }, none, items);
  const selected = new Set<string>();
  let shown: readonly ApprovalInfo[] = [];
  let openId = "";
  let isPaged = false;

  function draw(): void {
    const focused = focusedIn(items);
    items.replaceChildren(...shown.map(drawItem));
    none.hidden = shown.length > 0;
    if (focused !== undefined) items.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus();
  }

  function drawItem(approval: ApprovalInfo, at: number): HTMLElement {
    const { approvalId, title, requestedBy, riskClass, status } = approval;
    const isOpen = status === "pending";
    const left = isOpen ? formatTimeLeft(Date.parse(approval.expiresAt) - Date.now()) : status;
    const risk = el("span", { class: "risk" }, formatRisk(riskClass));
    const facts = el("span", { class: "facts-of" }, risk, el("bdi", {}, requestedBy), left);
    const name = el("bdi", { class: "name" }, title);
    const button = el("button", { type: "button", "data-key": `b${at}` }, name, facts);
    if (approvalId === openId) button.setAttribute("aria-current", "true");
    button.addEventListener("click", () => onOpen(approval));
    const item = el("li", { "data-risk": riskClass, "data-status": status });
    if (isOpen && maySelect(approval)) item.append(drawBox(approval, at));
    item.append(button);
    return item;
  }

  function drawBox({ approvalId, title }: ApprovalInfo, at: number): HTMLElement {
    const label = `Select ${title}`;
    const box = el("input", { type: "checkbox", "aria-label": label, "data-key": `c${at}` });
    box.checked = selected.has(approvalId);
    box.addEventListener("change", () => {
      if (box.checked) selected.add(approvalId);
      else selected.delete(approvalId);
      onSelect();
    });
    return box;
  }

  return {
    root,
    get selected() {
      return shown.filter((approval) => selected.has(approval.approvalId));
    },
    get isPaged() {
      return isPaged;
    },
    show(approvals, { isMore }) {
      const known = new Set(shown.map(({ approvalId }) => approvalId));
      const fresh = approvals.filter(({ approvalId }) => !known.has(approvalId));
      shown = isMore ? [...shown, ...fresh] : approvals;
      isPaged = isMore;
      for (const id of selected)
        if (!shown.some((one) => one.approvalId === id)) selected.delete(id);
      draw();
    },
    note(news) {
      shown = shown.map((one) => (one.approvalId === news.approvalId ? joinNews(one, news) : one));
      if (news.status !== "pending") selected.delete(news.approvalId);
      draw();
    },
    replace(approvalId, next) {
      shown = shown
        .filter((one) => one.approvalId !== next.approvalId)
        .map((one) => (one.approvalId === approvalId ? next : one));
      selected.delete(approvalId);
      draw();
    },
    mark(approvalId) {
      openId = approvalId;
      draw();
    },
    focus: () => items.querySelector<HTMLElement>('[aria-current="true"]')?.focus(),
  };
}

/** What is critical is looked at one by one. */
function maySelect({ pattern, riskClass }: ApprovalInfo): boolean {
  return pattern === "async_review" && riskClass !== "CRITICAL_MUTATION";
}

function focusedIn(element: HTMLElement): string | undefined {
  const active = [...element.querySelectorAll<HTMLElement>("[data-key]")].find((child) =>
    child.matches(":focus"),
  );
  return active?.dataset["key"];
}
