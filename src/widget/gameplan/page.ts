import type { ApprovalsApi } from "../approval/api.ts";
import type { ApiOptions } from "../api-request.ts";
import { el, setText } from "../dom.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { createTokenForm } from "../token-form.ts";
import { createActions } from "./actions.ts";
import type { CallFailure, GameplanApi } from "./api.ts";
import { type Change, followChanges } from "./changes.ts";
import { drawButton } from "./draw.ts";
import { makeExampleProject } from "./example-project.ts";
import { createFrame, type Side } from "./frame.ts";
import { replaceKeeping } from "./keep-state.ts";
import { createNews } from "./news.ts";
import { listOf, textOf } from "./read-json.ts";
import { formatRoute, parseRoute, type Route } from "./route.ts";
import type { Section, SectionContext } from "./section.ts";
import { activitySection, EVERY_ENTITY } from "./sections/activity.ts";
import { binSection } from "./sections/bin.ts";
import { exportsSection } from "./sections/exports.ts";
import { graphSection } from "./sections/graph.ts";
import { ideasSection } from "./sections/ideas.ts";
import { plansSection } from "./sections/plans.ts";
import { systemsSection } from "./sections/systems.ts";

const SECTIONS: readonly Section[] = [
  systemsSection,
  graphSection,
  plansSection,
  ideasSection,
  activitySection,
  exportsSection,
  binSection,
];

export interface PagePorts {
  readonly options: ApiOptions;
  readonly api: GameplanApi;
  readonly approvals: ApprovalsApi;
  readonly chat: HTMLElement;
  /** The workspace that the page names; undefined: the reader's first one. */
  readonly workspaceId: string | undefined;
  readonly onToken: (token: string) => void;
  readonly canAskForToken: () => boolean;
}

/** Changes of one moment are read together. Unit: milliseconds. */
const GATHER_MS = 150;

/** Shows a project beside the chat, and follows its changes. */
export class GameplanPage {
  readonly root: HTMLElement;
  readonly #ports: PagePorts;
  readonly #frame: ReturnType<typeof createFrame>;
  readonly #lifetime = new AbortController();
  readonly #act: SectionContext["act"];
  readonly #news: ReturnType<typeof createNews>;
  readonly #tokenForm = createTokenForm((token) => {
    this.#wasRefused = true;
    this.#ports.onToken(token);
    void this.#open();
  });
  #projects: readonly JsonObject[] = [];
  #shown = 0;
  /** Kinds of rows that changed and are not read yet. */
  #changed = new Set<string>();
  #hasNews = false;
  #wasRefused = false;
  #isFollowing = false;
  /** The focus follows the address that the page is about to show. */
  #takesFocus = false;
  /** The address whose content is shown, so that a reload of the same content keeps the place. */
  #address = "";

  constructor(ports: PagePorts) {
    this.#ports = ports;
    this.#frame = createFrame(SECTIONS, ports.chat);
    this.root = this.#frame.root;
    const { api, approvals } = ports;
    const act = createActions({
      api,
      approvals,
      place: this.#frame.waiting,
      onFailure: (failure) => this.#notify(failure?.message ?? ""),
      onDone: () => void this.#refresh(),
    });
    this.#act = act;
    this.#news = createNews(this.#frame.news, { api, act });
    this.#frame.project.append(this.#tokenForm.root);
    this.#listen();
  }

  /** What the page shows now, for the model to read as data. */
  get context(): JsonObject {
    const { projectId, section, itemId } = this.#route();
    const project = this.#projects.find((known) => textOf(known, "id") === projectId);
    return {
      page: "GamePlan",
      ...(project && { projectId: textOf(project, "id"), projectName: textOf(project, "name") }),
      section,
      ...(itemId && { itemId }),
    };
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
    const read = await this.#ports.api.read("list_projects", { limit: 100 });
    if (!read.ok) {
      this.#showFailure(read.failure, () => this.#open());
      return false;
    }
    this.#tokenForm.update({ isNeeded: false, wasRefused: false });
    this.#wasRefused = false;
    this.#projects = listOf(read.value, "items");
    const { projects } = this.#frame;
    projects.hidden = this.#projects.length === 0;
    projects.replaceChildren(
      ...this.#projects.map((project) =>
        el("option", { value: textOf(project, "id") }, textOf(project, "name")),
      ),
    );
    return true;
  }

  /** The route of the address, in a project that exists. */
  #route(): Route {
    const route = parseRoute(location.hash);
    const isKnown = this.#projects.some((project) => textOf(project, "id") === route.projectId);
    const [first] = this.#projects;
    const projectId = isKnown ? route.projectId : first && textOf(first, "id");
    const { projectId: _, ...rest } = route;
    return { ...rest, ...(projectId && { projectId }) };
  }

  /** Shows what the address names. The focus moves along, unless the reader is in the chat. */
  async #show(): Promise<void> {
    const { main, project } = this.#frame;
    const hadFocus = project.matches(":focus-within");
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

  /** Moves the focus to what was opened, once it is drawn, by whichever read came last. */
  #moveFocus(): void {
    const { main } = this.#frame;
    if (!this.#takesFocus || main.hasAttribute("aria-busy")) return;
    this.#takesFocus = false;
    if (!main.matches(":focus-within")) (main.querySelector("h2") ?? main).focus();
  }

  /** Reads and draws the section again; what the reader has there stays. */
  async #refresh(): Promise<void> {
    this.#shown += 1;
    const own = this.#shown;
    const route = this.#route();
    const { main, projects } = this.#frame;
    this.#frame.showRoute(route);
    this.#news.update(route.projectId);
    if (route.projectId) projects.value = route.projectId;
    const section = SECTIONS.find(({ name }) => name === route.section) ?? systemsSection;
    if (!route.projectId && section !== binSection) return this.#showWelcome();
    const shown = await section.show(this.#context(route));
    if (own !== this.#shown) return;
    main.removeAttribute("aria-busy");
    if (!shown.ok) return this.#showFailure(shown.failure, () => this.#show());
    this.#address = location.hash;
    replaceKeeping(main, shown.value);
    this.#moveFocus();
  }

  #context(route: Route): SectionContext {
    const { projectId = "" } = route;
    return {
      api: this.#ports.api,
      projectId,
      route,
      act: this.#act,
      link: (section, itemId) =>
        formatRoute({ projectId, section, ...(itemId !== undefined && { itemId }) }),
      go: (to, { isSilent } = { isSilent: false }) => {
        const address = formatRoute({ projectId, ...to });
        if (!isSilent) location.hash = address;
        else {
          history.replaceState(history.state, "", address);
          void this.#refresh();
        }
      },
    };
  }

  #showWelcome(): void {
    const make = drawButton("Make an example project", async () => {
      const projectId = await makeExampleProject(this.#act);
      if (!(await this.#readProjects()) || projectId === undefined) return;
      location.hash = formatRoute({ projectId, section: "systems" });
      await this.#show();
    });
    make.classList.add("primary");
    const bin = el("a", { href: formatRoute({ section: "bin" }) }, "Bin");
    const heading = el("h2", { tabindex: "-1" }, "There is no project yet");
    const lead =
      'Say in the chat what your game is, for example: "Create a project for a puzzle game."';
    const actions = el("div", { class: "actions" }, make, bin);
    this.#frame.main.removeAttribute("aria-busy");
    replaceKeeping(this.#frame.main, [
      el("div", { class: "nothing" }, heading, el("p", {}, lead), actions),
    ]);
  }

  #showFailure(failure: CallFailure, again: () => Promise<unknown>): void {
    const { main } = this.#frame;
    main.removeAttribute("aria-busy");
    const isNeeded = failure.needsToken && this.#ports.canAskForToken();
    this.#tokenForm.update({ isNeeded, wasRefused: this.#wasRefused });
    if (isNeeded) return main.replaceChildren();
    const text = el("p", { role: "alert" }, failure.message);
    main.replaceChildren(el("div", { class: "nothing" }, text, drawButton("Try again", again)));
  }

  #notify(message: string): void {
    setText(this.#frame.notice, message);
  }

  async #follow(): Promise<void> {
    if (this.#isFollowing) return;
    this.#isFollowing = true;
    const { api, options } = this.#ports;
    const known = this.#ports.workspaceId;
    const own = known === undefined ? await api.workspaces() : undefined;
    const workspaceId = known ?? (own?.ok ? own.value[0] : undefined);
    if (workspaceId === undefined) return;
    await followChanges(workspaceId, {
      api: options,
      signal: this.#lifetime.signal,
      onChanges: (changes) => this.#gather(changes),
      onLink: (isOpen) => setText(this.#frame.offline, isOpen ? "" : OFFLINE),
    });
  }

  #gather(changes: readonly Change[] | undefined): void {
    if (this.#changed.size === 0) setTimeout(() => void this.#apply(), GATHER_MS);
    for (const entity of changes?.map((change) => change.entity) ?? EVERY_ENTITY) {
      this.#changed.add(entity);
    }
    this.#hasNews ||= changes !== undefined;
  }

  /** Reads again what changed, and no more. */
  async #apply(): Promise<void> {
    const [changed, hasNews] = [this.#changed, this.#hasNews];
    this.#changed = new Set();
    this.#hasNews = false;
    if (changed.has("project") && !(await this.#readProjects())) return;
    const { section, projectId } = this.#route();
    const { entities } = SECTIONS.find(({ name }) => name === section) ?? systemsSection;
    const isShown = entities.some((entity) => changed.has(entity));
    if (isShown || changed.has("project")) await this.#refresh();
    if (hasNews && projectId) await this.#news.read(projectId);
  }
}

const OFFLINE = "The connection was lost. Changes appear when it is back.";

const SIDE_KEY = "interlock-gameplan:side";

function loadSide(): Side {
  try {
    return sessionStorage.getItem(SIDE_KEY) === "chat" ? "chat" : "project";
  } catch {
    return "project";
  }
}

function saveSide(side: Side): void {
  try {
    sessionStorage.setItem(SIDE_KEY, side);
  } catch {
    // Without session storage a reload shows the project.
  }
}
