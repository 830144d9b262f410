import { el, setText } from "../dom.ts";
import { createTokenForm } from "../token-form.ts";
import type { RunsApi, RunsFailure } from "./api.ts";
import { createFilters, createFrame } from "./frame.ts";
import { RunsList } from "./list.ts";
import { drawTrace } from "./trace-view.ts";

export interface RunsViewPorts {
  readonly onToken: (token: string) => void;
  /** False where the page provides the token. */
  readonly canAskForToken: () => boolean;
}

/** Shows the list of runs, and what decided the open one. */
export class RunsView {
  readonly root: HTMLElement;
  readonly #api: RunsApi;
  readonly #ports: RunsViewPorts;
  readonly #filters = createFilters(() => void this.#refresh());
  readonly #frame = createFrame(this.#filters);
  readonly #list = new RunsList((runId) => {
    location.hash = encodeURIComponent(runId);
    void this.#openNamed();
  });
  readonly #tokenForm = createTokenForm((token) => {
    this.#wasRefused = true;
    this.#ports.onToken(token);
    void this.#refresh();
    this.#openId = "";
    void this.#openNamed();
  });
  readonly #onHash = (): void => void this.#openNamed();
  #wasRefused = false;
  #next: string | undefined;
  #requests = 0;
  #openId = "";

  constructor(api: RunsApi, ports: RunsViewPorts) {
    this.#api = api;
    this.#ports = ports;
    const { root, side, more, notice } = this.#frame;
    this.root = root;
    side.append(this.#list.root, more, notice, this.#tokenForm.root);
    this.#listen();
  }

  /** Reads the list, and the run that the address names. */
  start(): void {
    window.addEventListener("hashchange", this.#onHash);
    void this.#refresh();
    void this.#openNamed();
  }

  dispose(): void {
    window.removeEventListener("hashchange", this.#onHash);
    this.#requests += 1;
  }

  #listen(): void {
    const { root, detail, reload, more, back } = this.#frame;
    reload.addEventListener("click", () => {
      void this.#refresh();
      this.#openId = "";
      void this.#openNamed();
    });
    more.addEventListener("click", () => void this.#refresh(this.#next));
    back.addEventListener("click", () => {
      delete root.dataset["open"];
      this.#list.focus();
    });
    detail.addEventListener("click", (event) => this.#followCall(event));
  }

  /** A link to a call moves in the open run: the address after `#` names the run. */
  #followCall(event: Event): void {
    const link = (event.target as Element).closest<HTMLElement>("[data-call]");
    if (!link) return;
    event.preventDefault();
    const calls = this.#frame.detail.querySelectorAll<HTMLElement>(".call");
    const call = [...calls].find(({ id }) => id === link.dataset["call"]);
    call?.focus();
    call?.scrollIntoView({ block: "start" });
  }

  async #refresh(cursor?: string): Promise<void> {
    this.#requests += 1;
    const own = this.#requests;
    const page = await this.#api.list({
      ...this.#filters.read(),
      limit: "50",
      ...(cursor && { cursor }),
    });
    if (own !== this.#requests) return;
    if (!page.ok) return this.#showFailure(page.failure);
    this.#wasRefused = false;
    this.#next = page.value.next;
    this.#list.show(page.value.runs, { isMore: cursor !== undefined });
    this.#frame.more.hidden = this.#next === undefined;
    this.#showFailure({ message: "", needsToken: false });
  }

  #showFailure({ needsToken, message }: RunsFailure): void {
    const isNeeded = needsToken && this.#ports.canAskForToken();
    setText(this.#frame.notice, isNeeded ? "" : message);
    this.#tokenForm.update({ isNeeded, wasRefused: this.#wasRefused });
  }

  async #openNamed(): Promise<void> {
    const runId = readHash();
    if (runId === "" || runId === this.#openId) return;
    this.#openId = runId;
    this.#list.mark(runId);
    const { root, detail, back } = this.#frame;
    const read = await this.#api.trace(runId);
    if (this.#openId !== runId) return;
    if (!read.ok && read.failure.needsToken) return;
    const shown = read.ok
      ? drawTrace(read.value, Date.now())
      : el("p", { class: "notice", role: "alert" }, read.failure.message);
    detail.replaceChildren(back, shown);
    root.dataset["open"] = "";
    shown.focus({ preventScroll: true });
    detail.scrollTop = 0;
  }
}

function readHash(): string {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}
