import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { el } from "../../../../src/widget/dom.ts";
import { inWords } from "../draw.ts";
import { textOf } from "../read-json.ts";
import { queryOf, type Route } from "../route.ts";
import { CRITICALITIES } from "../sections/system-fields.ts";
import type { View } from "./geometry.ts";
import type { BoardModel } from "./model.ts";

export interface BarPorts {
  readonly find: (words: string) => Promise<unknown>;
  readonly filter: (name: "layer" | "plan", value: string) => void;
}

/** Draws the search, and the filters of the board. */
export function drawBar(
  { systems }: BoardModel,
  shown: { readonly route: Route; readonly plans: readonly JsonObject[] },
  { find, filter }: BarPorts,
): HTMLElement {
  const { route, plans } = shown;
  const search = el("input", {
    type: "search",
    list: "board-systems",
    "aria-label": "Find a system on the board",
    placeholder: "Find a system…",
    "data-key": "board-search",
  });
  const names = el("datalist", { id: "board-systems" });
  for (const { name } of systems.values()) names.append(el("option", { value: name }));
  const form = el("form", { role: "search" }, search, names);
  const submit = (): void => {
    if (search.value.trim() !== "") void find(search.value.trim());
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  // A name that is chosen in the list is complete.
  search.addEventListener("change", submit);
  const layers = CRITICALITIES.map((value) => [value, inWords(value)] as const);
  const versions = plans.map((plan) => [textOf(plan, "id"), textOf(plan, "version")] as const);
  return el(
    "div",
    { class: "tools" },
    form,
    drawFilter("Layer", [["", "All layers"], ...layers], {
      value: queryOf(route, "layer"),
      onChange: (value) => filter("layer", value),
    }),
    drawFilter("Plan", [["", "All plans"], ...versions], {
      value: queryOf(route, "plan"),
      onChange: (value) => filter("plan", value),
    }),
  );
}

function drawFilter(
  label: string,
  options: readonly (readonly [value: string, words: string])[],
  { value: now, onChange }: { readonly value: string; readonly onChange: (value: string) => void },
): HTMLElement {
  const select = el(
    "select",
    { "aria-label": label, "data-key": `board-${label}` },
    ...options.map(([value, words]) => el("option", { value }, words)),
  );
  select.value = now;
  if (select.selectedIndex < 0) select.selectedIndex = 0;
  select.addEventListener("change", () => onChange(select.value));
  return select;
}

/** Creates the buttons that change the view. They stand on the board. */
export function createZoom(ports: {
  readonly zoom: (factor: number) => void;
  readonly fit: () => void;
}) {
  const scale = el("output", { "aria-label": "Zoom" }, "100%");
  const button = (label: string, text: string, action: () => void): HTMLElement => {
    const made = el("button", { type: "button", "aria-label": label, title: label }, text);
    made.addEventListener("click", action);
    return made;
  };
  const root = el("div", { class: "zoom", role: "group", "aria-label": "View" });
  root.append(
    button("Zoom out", "−", () => ports.zoom(1 / STEP)),
    scale,
    button("Zoom in", "+", () => ports.zoom(STEP)),
    button("Show all", "Fit", ports.fit),
  );
  return {
    root,
    show: ({ scale: now }: View): void => {
      scale.value = `${Math.round(now * 100)}%`;
    },
  };
}

const STEP = 1.25;
