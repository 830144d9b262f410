import { say } from "../../texts/say.ts";
import { createButton, el, icon } from "../../dom.ts";
import type { AttachedFile } from "./attached-file.ts";
import { drawFileName } from "./file-names.ts";
import type { FileTray, FileTrayPorts } from "./file-tray.ts";
import { readFile, sizeOf, takenTypes } from "./read-file.ts";

/** The build that this file belongs to. */
export const edition = EDITION;

/** Limits of a message; see docs/http.md, "Files". */
const MAX_FILES = 16;
const MAX_BYTES = 3 * 1024 * 1024;
const CLIP = "M14.5 9.5l-4.6 4.6a2.8 2.8 0 0 1-4-4l5.6-5.6a1.9 1.9 0 0 1 2.7 2.7l-5.5 5.5";

/** Creates the tray of files below the message field. */
export function createFileTray({ takes, onChange }: FileTrayPorts): FileTray {
  const list = el("ul", { class: "files", "aria-label": say("Attached files") });
  const problem = el("p", { class: "file-problem", role: "alert" });
  const root = el("div", { class: "tray" }, list, problem);
  const picker = el("input", { type: "file", multiple: "", hidden: "" });
  picker.accept = takenTypes(takes).join(",");
  const button = createButton("attach", "");
  button.setAttribute("aria-label", say("Attach files"));
  button.append(icon(CLIP), picker);
  button.addEventListener("click", () => picker.click());
  // A click on the picker would reach the button that it stands in.
  picker.addEventListener("click", (event) => event.stopPropagation());
  picker.addEventListener("change", () => {
    add(picker.files ?? []);
    picker.value = "";
  });
  let files: readonly AttachedFile[] = [];
  let reading = 0;

  function draw(): void {
    list.replaceChildren(...files.map((file) => drawFile(file)));
    if (reading > 0) list.append(el("li", { class: "file" }, say("Reading…")));
    onChange();
  }

  function drawFile(file: AttachedFile): HTMLElement {
    const remove = createButton("remove", "×");
    remove.setAttribute("aria-label", say("Remove {file}", { file: file.name }));
    remove.addEventListener("click", () => {
      files = files.filter((other) => other !== file);
      problem.textContent = "";
      draw();
    });
    return el("li", { class: "file" }, ...drawFileName(file), remove);
  }

  function add(chosen: Iterable<File>): void {
    problem.textContent = "";
    for (const file of chosen) void addOne(file);
  }

  async function addOne(file: File): Promise<void> {
    reading += 1;
    draw();
    const read = await readFile(file, takes);
    reading -= 1;
    const refusal = read.ok ? refuse(read.value) : read.failure;
    if (refusal !== undefined) problem.textContent = refusal;
    else if (read.ok) files = [...files, read.value];
    draw();
  }

  function refuse(file: AttachedFile): string | undefined {
    if (files.length >= MAX_FILES)
      return say("A message may have {count} files.", { count: MAX_FILES });
    const bytes = [...files, file].reduce((sum, other) => sum + sizeOf(other), 0);
    return bytes > MAX_BYTES
      ? say("{file} is too large: the files of a message may have 3 MB together.", {
          file: file.name,
        })
      : undefined;
  }

  return {
    root,
    button,
    get files() {
      return files;
    },
    get isReading() {
      return reading > 0;
    },
    add,
    put(returned) {
      files = [...returned, ...files];
      draw();
    },
    clear() {
      files = [];
      problem.textContent = "";
      draw();
    },
  };
}
