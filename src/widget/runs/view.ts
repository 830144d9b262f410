import { say } from "../texts/say.ts";
import { el, setText } from "../dom.ts";
import { createFrame, readHash } from "../panes/frame.ts";
import { SignIn, type SignInPorts } from "../panes/sign-in.ts";
import type { RunsApi } from "./api.ts";
import { createCosts } from "./costs.ts";
import { createFilters } from "./filters.ts";
import { RunsList } from "./list.ts";
import { PolicyView } from "./policy-view.ts";
import { drawTrace } from "./trace-view.ts";

/** What the address names where a policy is tried; no run has this id. */
const POLICY = "policy";

/** Shows the list of runs, and what decided the open one. */
export class RunsView {
  readonly root: HTMLElement;
  readonly #api: RunsApi;
  readonly #filters = createFilters(() => void this.#refresh());
  readonly #frame = createFrame(
    {
      title: say("Runs"),
      back: say("All runs"),
      hint: say("Select a run to see what decided it."),
    },
    el("a", { href: `#${POLICY}`, class: "to-policy" }, say("Try a policy")),
  );
  readonly #list = new RunsList((runId) => {
    location.hash = encodeURIComponent(runId);
    void this.#openNamed();
  });
  readonly #policy: PolicyView;
  readonly #signIn: SignIn;
  readonly #onHash = (): void => void this.#openNamed();
  #next: string | undefined;
  #requests = 0;
  #openId = "";

  constructor(api: RunsApi, ports: SignInPorts) {
    this.#api = api;
    this.#policy = new PolicyView(api);
    this.#signIn = new SignIn(ports, () => this.#readAgain());
    const { root, side, more, notice } = this.#frame;
    this.root = root;
    const costs = createCosts(api);
    side.append(this.#filters.root, this.#list.root, more, notice, this.#signIn.root, costs);
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
    reload.addEventListener("click", () => this.#readAgain());
    more.addEventListener("click", () => void this.#refresh(this.#next));
    back.addEventListener("click", () => {
      delete root.dataset["open"];
      this.#list.focus();
    });
    detail.addEventListener("click", (event) => this.#followCall(event));
  }

  #readAgain(): void {
    void this.#refresh();
    this.#openId = "";
    void this.#openNamed();
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
      limit: 50,
      ...(cursor && { cursor }),
    });
    if (own !== this.#requests) return;
    setText(this.#frame.notice, this.#signIn.accept(page.ok ? undefined : page.failure));
    if (!page.ok) return;
    this.#next = page.value.next;
    const hasNext = this.#next !== undefined;
    this.#list.show(page.value.runs, { isMore: cursor !== undefined, hasNext });
    this.#frame.more.hidden = !hasNext;
  }

  async #openNamed(): Promise<void> {
    const runId = readHash();
    if (runId === "" || runId === this.#openId) return;
    this.#openId = runId;
    this.#list.mark(runId);
    const shown = runId === POLICY ? await this.#loadPolicy() : await this.#loadTrace(runId);
    if (this.#openId !== runId || !shown) return;
    const { root, detail, back } = this.#frame;
    detail.replaceChildren(back, shown);
    root.dataset["open"] = "";
    shown.focus({ preventScroll: true });
    detail.scrollTop = 0;
  }

  async #loadPolicy(): Promise<HTMLElement> {
    await this.#policy.load();
    return this.#policy.root;
  }

  /** Undefined where the reader has to sign in first. */
  async #loadTrace(runId: string): Promise<HTMLElement | undefined> {
    const read = await this.#api.trace(runId);
    if (read.ok) return drawTrace(read.value, Date.now());
    if (read.failure.needsToken) return undefined;
    return el("p", { class: "notice", role: "alert" }, read.failure.message);
  }
}
