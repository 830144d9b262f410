import { createApprovalCard } from "./card.ts";
import type { ApprovalInfo } from "./info.ts";
import type { ApprovalFailure, ApprovalsApi } from "./api.ts";
import { createApprovalsList } from "./list.ts";
import { createBulkBar } from "./bulk-bar.ts";
import { el, icon, setText } from "../dom.ts";
import { createTokenForm } from "../token-form.ts";

export interface ApprovalsView {
  readonly root: HTMLElement;
  /** Asks for the queue, and again from time to time. */
  start(): void;
  /** Asks no more. */
  dispose(): void;
}

export interface ApprovalsViewPorts {
  readonly onToken: (token: string) => void;
  /** False where the page provides the token. */
  readonly canAskForToken: () => boolean;
}

/** What may be looked at, and what the API is asked for. */
const FILTERS: readonly (readonly [name: string, query: Readonly<Record<string, string>>])[] = [
  ["For me to decide", { status: "pending", decidable: "true" }],
  ["Waiting", { status: "pending" }],
  ["Asked for me", { status: "pending", mine: "true" }],
  ["Approved", { status: "approved", sort: "newest" }],
  ["Rejected", { status: "rejected", sort: "newest" }],
  ["Expired", { status: "expired", sort: "newest" }],
];

const REFRESH_MS = 15_000;

/** Shows the questions that wait for people, and the one that is open. */
export function createApprovalsView(api: ApprovalsApi, ports: ApprovalsViewPorts): ApprovalsView {
  const frame = createFrame();
  const list = createApprovalsList({ onOpen: open, onSelect: () => bulk.update(list.selected) });
  const bulk = createBulkBar(api, () => void refresh());
  const tokenForm = createTokenForm((token) => {
    wasRefused = true;
    ports.onToken(token);
    void refresh();
  });
  frame.side.append(bulk.root, list.root, frame.more, frame.notice, tokenForm.root);
  let wasRefused = false;
  let next: string | undefined;
  let asked = 0;
  let openId = "";
  let hasOpenedNamed = false;
  let timer: ReturnType<typeof setInterval> | undefined;
  let card: ReturnType<typeof createApprovalCard> | undefined;

  async function refresh(cursor?: string): Promise<void> {
    const mine = ++asked;
    const [, filter = {}] = FILTERS[Number(frame.filter.value)] ?? [];
    const page = await api.list({ ...filter, limit: "50", ...(cursor && { cursor }) });
    if (mine !== asked) return;
    if (page.ok) {
      wasRefused = false;
      ({ next } = page.value);
      list.show(page.value.approvals, { isMore: cursor !== undefined });
      say("");
    } else refuse(page.failure);
    const isSignedIn = page.ok || !page.failure.needsToken;
    if (isSignedIn && !hasOpenedNamed) void openNamed();
  }

  function refuse({ needsToken, message }: ApprovalFailure): void {
    const isAsked = needsToken && ports.canAskForToken();
    say(isAsked ? "" : message);
    tokenForm.update({ isNeeded: isAsked, wasRefused });
  }

  function say(message: string): void {
    if (message === "") tokenForm.update({ isNeeded: false, wasRefused });
    setText(frame.notice, message);
    frame.more.hidden = next === undefined;
    bulk.update(list.selected);
  }

  function open(approval: ApprovalInfo): void {
    name(approval);
    card = createApprovalCard({ api, onChange: take }, approval);
    frame.detail.replaceChildren(frame.back, card.root);
    frame.root.dataset["open"] = "";
    card.root.tabIndex = -1;
    card.root.focus();
  }

  function name({ approvalId }: ApprovalInfo): void {
    openId = approvalId;
    history.replaceState(history.state, "", `#${encodeURIComponent(approvalId)}`);
    list.mark(approvalId);
  }

  /** Changed arguments are another question, which takes the place of the one that was open. */
  function take(changed: ApprovalInfo): void {
    if (changed.approvalId === openId) return list.note(changed);
    list.replace(openId, changed);
    name(changed);
  }

  /** An address may name a question, so it can be sent to whoever is to decide. */
  async function openNamed(): Promise<void> {
    hasOpenedNamed = true;
    const name = readHash();
    if (name === "") return;
    const named = await api.read(name);
    if (named.ok) open(named.value);
    else if (!named.failure.needsToken) setText(frame.notice, named.failure.message);
  }

  frame.filter.addEventListener("change", () => {
    // On a phone the open question hides the list that was asked for.
    delete frame.root.dataset["open"];
    void refresh();
  });
  frame.reload.addEventListener("click", () => void refresh());
  frame.more.addEventListener("click", () => void refresh(next));
  frame.back.addEventListener("click", () => {
    delete frame.root.dataset["open"];
    list.focus();
  });
  return {
    root: frame.root,
    start() {
      void refresh();
      timer = setInterval(() => {
        // What is selected, or was loaded in pages, is not taken from under the reader's hands.
        const isIdle = list.selected.length === 0 && !list.isPaged;
        if (isIdle && document.visibilityState === "visible") void refresh();
      }, REFRESH_MS);
    },
    dispose() {
      clearInterval(timer);
      asked++;
    },
  };
}

function readHash(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

function createFrame() {
  const filter = el("select", { "aria-label": "Show" });
  FILTERS.forEach(([name], at) => filter.append(el("option", { value: String(at) }, name)));
  const reload = el(
    "button",
    { type: "button", "aria-label": "Refresh" },
    icon("M15.5 8A6 6 0 1 0 16 11M16 4v4h-4"),
  );
  const more = el("button", { type: "button", class: "more", hidden: "" }, "Show more");
  const back = el("button", { type: "button", class: "back" }, icon("M12 5l-5 5 5 5"), "All");
  const notice = el("p", { class: "notice", role: "alert" });
  const tools = el("div", { class: "tools" }, filter, reload);
  const header = el("header", {}, el("h1", {}, "Approvals"), tools);
  const side = el("div", { class: "side" });
  const hint = el("p", { class: "note" }, "Choose a question to see what would happen.");
  const detail = el("main", { class: "detail" }, hint);
  const root = el("div", { class: "approvals" }, header, side, detail);
  return { root, side, detail, filter, reload, more, back, notice };
}
