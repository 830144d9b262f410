import { el } from "../../../src/widget/dom.ts";
import type { JsonObject } from "../../../src/protocol/json/value.ts";
import { ok, type Result } from "../../../src/protocol/outcome/result.ts";
import type { CallFailure, GameplanApi } from "./api.ts";
import { readWhole } from "./pages.ts";
import { textOf } from "./read-json.ts";
import { formatRoute, parseRoute, type Route } from "./route.ts";

/** The projects that the reader can choose, and the one that the address names. */
export class ProjectList {
  readonly #api: Pick<GameplanApi, "read">;
  readonly #switcher: HTMLSelectElement;
  #projects: readonly JsonObject[] = [];

  constructor(api: Pick<GameplanApi, "read">, switcher: HTMLSelectElement) {
    this.#api = api;
    this.#switcher = switcher;
  }

  /** Reads the projects, and draws the switcher. */
  async read(): Promise<Result<null, CallFailure>> {
    const read = await readWhole(this.#api, { tool: "list_projects", args: {} });
    if (!read.ok) return read;
    this.#projects = read.value.items;
    this.#switcher.hidden = this.#projects.length === 0;
    this.#switcher.replaceChildren(
      ...this.#projects.map((project) =>
        el("option", { value: textOf(project, "id") }, textOf(project, "name")),
      ),
    );
    return ok(null);
  }

  /**
   * The route of the address. An address without a project means the first one, and then names it,
   * so that it can be sent on. `isKnown` tells whether the project is one of the reader's.
   */
  get route(): Route & { readonly isKnown: boolean } {
    const route = parseRoute(location.hash);
    const { projectId = this.first } = route;
    const shown = { ...route, ...(projectId !== undefined && { projectId }) };
    if (route.projectId === undefined && projectId !== undefined) {
      history.replaceState(history.state, "", formatRoute(shown));
    }
    return { ...shown, isKnown: this.#find(projectId) !== undefined };
  }

  /** The id of the first project; undefined without a project. */
  get first(): string | undefined {
    const [first] = this.#projects;
    return first && textOf(first, "id");
  }

  /** Shows in the switcher which project the page shows. */
  mark(projectId: string | undefined): void {
    this.#switcher.value = projectId ?? "";
  }

  /** What the page shows now, for the model to read as data. */
  get context(): JsonObject {
    const { projectId, section, itemId } = this.route;
    const project = this.#find(projectId);
    return {
      page: "GamePlan",
      ...(project && { projectId: textOf(project, "id"), projectName: textOf(project, "name") }),
      section,
      ...(itemId && { itemId }),
    };
  }

  #find(projectId: string | undefined): JsonObject | undefined {
    return this.#projects.find((project) => textOf(project, "id") === projectId);
  }
}
