import { el, setText } from "../../../src/widget/dom.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { createTokenForm } from "../../../src/widget/token-form.ts";
import { createActions } from "./actions.ts";
import type { CallFailure } from "./api.ts";
import { followWorkspace } from "./changes.ts";
import { drawButton } from "./draw.ts";
import { makeExampleProject } from "./example-project.ts";
import { createFrame } from "./frame.ts";
import { type Changed, gatherChanges } from "./gather-changes.ts";
import { replaceKeeping } from "./keep-state.ts";
import { loadSide, saveSide } from "./kept-side.ts";
import { createNews } from "./news.ts";
import type { PagePorts } from "./page-ports.ts";
import { createPress } from "./press.ts";
import { ProjectList } from "./project-list.ts";
import { formatRoute, type Route } from "./route.ts";
import { findSection, SECTIONS } from "./all-sections.ts";
import type { SectionContext } from "./section.ts";
import { untilOnline } from "./until-online.ts";
import { drawUnknownProject, drawWelcome, FIRST_QUESTIONS } from "./welcome.ts";

/** Shows a project beside the chat, and follows its changes. */
export class GameplanPage {
  readonly root: HTMLElement;
  readonly #ports: PagePorts;
  readonly #frame: ReturnType<typeof createFrame>;
  readonly #lifetime = new AbortController();
  readonly #press: ReturnType<typeof createPress>;
  readonly #actions: ReturnType<typeof createActions>;
  readonly #news: ReturnType<typeof createNews>;
  readonly #tokenForm = createTokenForm((token) => {
    this.#wasRefused = true;
    this.#ports.onToken(token);
    void this.#open();
  });
  readonly #projects: ProjectList;
  #shown = 0;
  #wasRefused = false;
  #isFollowing = false;
  /** Reads without an answer, one after the other. */
  #retries = 0;
  /** The newest focus was in the project, not in the chat. */
  #wasInProject = false;
  /** The focus follows the address that the page is about to show. */
  #takesFocus = false;
  /** The address whose content is shown, so that a reload of the same content keeps the place. */
  #address = "";

  constructor(ports: PagePorts) {
    this.#ports = ports;
    this.#frame = createFrame(SECTIONS, ports.chat);
    this.root = this.#frame.root;
    this.#projects = new ProjectList(ports.api, this.#frame.projects);
    this.#press = createPress(this.#frame.main, this.#lifetime.signal);
    const { api, approvals } = ports;
    this.#actions = createActions({
      api,
      approvals,
      signal: this.#lifetime.signal,
      place: this.#frame.waiting,
      onFailure: (failure) => this.#notify(failure?.message ?? ""),
      onDone: () => void this.#refresh(),
      onUndone: () => ports.chat.refreshUndo(),
    });
    this.#news = createNews(this.#frame, { api, ...this.#actions });
    this.#frame.project.append(this.#tokenForm.root);
    this.#listen();
  }

  /** What the page shows now, for the model to read as data. */
  get context(): JsonObject {
    return this.#projects.context;
  }

  start(): void {
    this.#frame.showSide(loadSide());
    void this.#open();
  }

  /** Closes every connection. */
  dispose(): void {
    this.#lifetime.abort();
  }

  #listen(): void {
    const { signal } = this.#lifetime;
    addEventListener("hashchange", () => void this.#show(), { signal });
    this.#frame.projects.addEventListener("change", () => {
      location.hash = formatRoute({ projectId: this.#frame.projects.value, section: "systems" });
    });
    const { project } = this.#frame;
    const onFocus = ({ target }: FocusEvent): void => {
      this.#wasInProject = target instanceof Node && project.contains(target);
    };
    this.root.addEventListener("focusin", onFocus, { signal });
    this.#frame.onSide((side) => {
      this.#frame.showSide(side);
      saveSide(side);
    });
    // A link of a card in the chat leads to the project, which a phone does not show beside it.
    this.#ports.chat.addEventListener("click", (event) => {
      const [target] = event.composedPath();
      if (target instanceof Element && target.closest("a")) this.#frame.showSide("project");
    });
  }

  /** Reads the projects, then shows what the address names. */
  async #open(): Promise<void> {
    if (!(await this.#readProjects())) return;
    await this.#show();
    void this.#follow();
  }

  async #readProjects(): Promise<boolean> {
    const read = await this.#projects.read();
    if (!read.ok) {
      this.#showUnread(read.failure, () => this.#open());
      return false;
    }
    this.#tokenForm.update({ isNeeded: false, wasRefused: false });
    this.#wasRefused = false;
    // Most questions of the assistant need a project.
    this.#ports.chat.suggest(this.#projects.first === undefined ? FIRST_QUESTIONS : undefined);
    return true;
  }

  /** Shows what the address names. The focus moves along, unless the reader is in the chat. */
  async #show(): Promise<void> {
    const { main, project } = this.#frame;
    // A button that works is disabled, and a disabled one has no focus.
    const hasNone = document.activeElement === document.body;
    const hadFocus = project.matches(":focus-within") || (hasNone && this.#wasInProject);
    const isNew = this.#address !== location.hash;
    if (isNew) {
      main.setAttribute("aria-busy", "true");
      main.replaceChildren(el("p", { class: "note" }, "Reading…"));
      this.#notify("");
    }
    this.#takesFocus ||= isNew && hadFocus;
    await this.#refresh();
    this.#moveFocus();
  }

  /**
   * Moves the focus to what was opened, once it is drawn, by whichever read came last. A reader
   * who went elsewhere meanwhile stays there.
   */
  #moveFocus(): void {
    const { main, project } = this.#frame;
    if (!this.#takesFocus || main.hasAttribute("aria-busy")) return;
    this.#takesFocus = false;
    const isElsewhere =
      document.activeElement !== document.body && !project.matches(":focus-within");
    if (isElsewhere || main.matches(":focus-within")) return;
    (main.querySelector("h2") ?? main).focus();
  }

  /** Reads and draws the section again; what the reader has there stays. */
  async #refresh(): Promise<void> {
    this.#shown += 1;
    const own = this.#shown;
    const route = this.#projects.route;
    const address = location.hash;
    const { main } = this.#frame;
    this.#frame.showRoute(route);
    this.#news.update(route.projectId);
    this.#projects.mark(route.projectId);
    const section = findSection(route.section);
    // A deleted project is in the bin, which needs none.
    if (!route.isKnown && section.name !== "bin") return this.#showNoProject(route);
    const shown = await section.show(this.#context(route));
    await this.#press.ended();
    if (own !== this.#shown) return;
    main.removeAttribute("aria-busy");
    if (!shown.ok) return this.#showUnread(shown.failure, () => this.#show());
    // Another address may have been opened meanwhile, which is shown next.
    if (location.hash === address) this.#address = address;
    this.#retries = 0;
    replaceKeeping(main, shown.value);
    this.#moveFocus();
  }

  /** Without a connection, what is shown stays: the reader may be writing there. */
  #showUnread(failure: CallFailure, again: () => Promise<unknown>): void {
    const isShown = this.#address === location.hash;
    if (isShown && failure.code === "unreachable") void this.#retryOnline(again);
    else this.#showFailure(failure, again);
  }

  #context(route: Route): SectionContext {
    const { projectId = "" } = route;
    return {
      api: this.#ports.api,
      server: this.#ports.options,
      assistantId: this.#ports.assistantId,
      projectId,
      route,
      ...this.#actions,
      tell: (message) => this.#notify(message, "told"),
      link: (section, itemId) =>
        formatRoute({ projectId, section, ...(itemId !== undefined && { itemId }) }),
      go: (to, options) => this.#go({ projectId, ...to }, options),
      addSheet: (sheet) => {
        const root = this.root.getRootNode();
        if (!(root instanceof ShadowRoot) || root.adoptedStyleSheets.includes(sheet)) return;
        root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
      },
      showAddress: (to) => {
        history.replaceState(history.state, "", formatRoute({ projectId, ...to }));
        this.#address = location.hash;
      },
      owns: (row) => {
        const { projectId: owner = projectId } = row;
        if (owner === projectId || typeof owner !== "string") return true;
        this.#go({ ...route, projectId: owner }, { isSilent: true });
        return false;
      },
      makeExample: () => this.#makeExample(),
    };
  }

  #go(to: Route, { isSilent } = { isSilent: false }): void {
    const address = formatRoute(to);
    if (!isSilent && address !== location.hash) {
      location.hash = address;
      return;
    }
    history.replaceState(history.state, "", address);
    void this.#refresh();
  }

  async #makeExample(): Promise<void> {
    await makeExampleProject(this.#actions.act, async (projectId) => {
      if (await this.#readProjects()) this.#go({ projectId, section: "systems" });
    });
  }

  #showNoProject(route: Route): void {
    const { main } = this.#frame;
    main.removeAttribute("aria-busy");
    const drawn =
      route.projectId === undefined
        ? drawWelcome(this.#context(route))
        : drawUnknownProject(this.#projects.first);
    replaceKeeping(main, [drawn]);
  }

  #showFailure(failure: CallFailure, again: () => Promise<unknown>): void {
    const { main } = this.#frame;
    main.removeAttribute("aria-busy");
    if (failure.code === "unreachable") void this.#retryOnline(again);
    const isNeeded = failure.needsToken && this.#ports.canAskForToken();
    this.#tokenForm.update({ isNeeded, wasRefused: this.#wasRefused });
    if (isNeeded) return main.replaceChildren();
    const text = el("p", { role: "alert" }, failure.message);
    main.replaceChildren(el("div", { class: "nothing" }, text, drawButton("Try again", again)));
  }

  /** Tries again what could not be read, unless something else is shown by then. */
  async #retryOnline(again: () => Promise<unknown>): Promise<void> {
    const own = this.#shown;
    this.#retries += 1;
    await untilOnline(this.#retries, this.#lifetime.signal);
    if (own === this.#shown && !this.#lifetime.signal.aborted) await again();
  }

  #notify(message: string, kind: "failure" | "told" = "failure"): void {
    this.#frame.notice.dataset["kind"] = kind;
    setText(this.#frame.notice, message);
  }

  /** A page that was refused follows again once it could read. */
  async #follow(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const { api, options, workspaceId } = this.#ports;
    await followWorkspace(workspaceId, {
      api: options,
      workspaces: () => api.workspaces(),
      signal: this.#lifetime.signal,
      onChanges: gatherChanges((changed) => void this.#apply(changed)),
      onLink: (isOpen) => setText(this.#frame.offline, isOpen ? "" : OFFLINE),
    });
    this.#isFollowing = false;
  }

  /** Reads again what changed, and no more. */
  async #apply({ entities: changed, hasNews }: Changed): Promise<void> {
    this.#ports.chat.refreshApprovals();
    if (changed.has("project") && !(await this.#readProjects())) return;
    const { section, projectId } = this.#projects.route;
    const { entities } = findSection(section);
    const isShown = entities.some((entity) => changed.has(entity));
    if (isShown || changed.has("project")) await this.#refresh();
    if (hasNews && projectId) await this.#news.read(projectId);
  }
}

const OFFLINE = "The connection was lost. Changes appear when it is back.";
