import { el } from "../dom.ts";
import type { JsonObject } from "../../protocol/json/value.ts";
import { ok, type Result } from "../../protocol/outcome/result.ts";
import type { CallFailure, GameplanApi } from "./api.ts";
import { listOf, textOf } from "./read-json.ts";
import { parseRoute, type Route } from "./route.ts";

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
    const read = await this.#api.read("list_projects", { limit: 100 });
    if (!read.ok) return read;
    this.#projects = listOf(read.value, "items");
    this.#switcher.hidden = this.#projects.length === 0;
    this.#switcher.replaceChildren(
      ...this.#projects.map((project) =>
        el("option", { value: textOf(project, "id") }, textOf(project, "name")),
      ),
    );
    return ok(null);
  }

  /** The route of the address, in a project that exists: the first one unless it names another. */
  get route(): Route {
    const route = parseRoute(location.hash);
    const [first] = this.#projects;
    const isKnown = this.#find(route.projectId) !== undefined;
    const projectId = isKnown ? route.projectId : first && textOf(first, "id");
    const { projectId: _, ...rest } = route;
    return { ...rest, ...(projectId && { projectId }) };
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
