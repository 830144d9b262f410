import { createButton, el, setText } from "../dom.ts";
import type { ApprovalsApi } from "./api.ts";
import type { ConsentInfo } from "./consent-info.ts";

const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "short" });

/**
 * Lists the reader's consents that last, and takes them back. Contract: hidden without one.
 */
export class ConsentSection {
  readonly root: HTMLElement;
  readonly #api: ApprovalsApi;
  readonly #items = el("ul", { "aria-label": "Consents" });
  readonly #notice = el("p", { class: "note", role: "status" });
  #requests = 0;

  constructor(api: ApprovalsApi) {
    this.#api = api;
    const title = "What you consented to";
    this.root = el("section", { class: "outcomes", "aria-label": title, hidden: "" });
    this.root.append(el("h2", {}, title), this.#items, this.#notice);
  }

  /** Reads the list again. */
  async refresh(): Promise<void> {
    const own = ++this.#requests;
    const answer = await this.#api.consents();
    if (own !== this.#requests) return;
    const consents = answer.ok ? answer.value : [];
    this.#items.replaceChildren(...consents.map((one) => this.#draw(one)));
    this.root.hidden = consents.length === 0 && this.#notice.textContent === "";
  }

  #draw(consent: ConsentInfo): HTMLElement {
    const { id, toolId, toolVersion, used, calls, untilMs, isForConversation } = consent;
    const end = createButton("", "Take back");
    end.addEventListener("click", () => {
      end.disabled = true;
      void this.#revoke(id);
    });
    const where = isForConversation ? "in one conversation" : "in all your conversations";
    return el(
      "li",
      {},
      el("bdi", { class: "name" }, `${toolId}, version ${toolVersion}`),
      el("p", { class: "entry-facts" }, `${where} · ${used} of ${calls} calls used`),
      el("p", { class: "entry-facts" }, `until ${DAY.format(untilMs)}`),
      el("div", { class: "row" }, end),
    );
  }

  async #revoke(id: string): Promise<void> {
    const answer = await this.#api.revoke(id);
    setText(
      this.#notice,
      answer.ok ? "Taken back. The next call asks again." : answer.failure.message,
    );
    await this.refresh();
  }
}
