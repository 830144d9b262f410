import type { JsonObject } from "../../../../src/protocol/json/value.ts";
import { el } from "../../../../src/widget/dom.ts";
import { drawButton, drawGroup, formatPerson, inWords } from "../draw.ts";
import { drawEditForm, type EditField } from "../edit-form.ts";
import { drawPerson } from "../person.ts";
import { listOf, numberOf, textOf } from "../read-json.ts";
import type { SectionContext } from "../section.ts";

/** The line of every member of the workspace without their own one. */
const EVERYBODY = "*";
const MOST_NAME = 120;

/** Draws who is in the project. An owner lets people in, removes them, and makes them owners. */
export async function drawMembers(context: SectionContext): Promise<HTMLElement[]> {
  const { api, projectId } = context;
  const read = await api.read("list_members", { projectId });
  if (!read.ok) return [];
  const lines = listOf(read.value, "items");
  const isOpen = lines.some((line) => isFor(EVERYBODY, line) && textOf(line, "access") !== "none");
  // In a closed project nobody needs to be kept out.
  const shown = lines.filter(
    (line) => isOpen || isFor(EVERYBODY, line) || textOf(line, "access") !== "none",
  );
  const set = async (person: string, access: string): Promise<boolean> => {
    const args = { projectId, revision: numberOf(read.value, "revision"), person, access };
    return (await context.act("change_member", args)) !== undefined;
  };
  const isOwner = read.value["isOwner"] === true;
  const owners = lines.filter((line) => textOf(line, "access") === "owner").length;
  const items = shown.map((line) => {
    // An owner gives up the right through another owner alone.
    const isAlone = owners === 1 && textOf(line, "access") === "owner";
    return drawLine(line, isOwner && !isAlone ? set : undefined);
  });
  const list = el("ul", { class: "items", "aria-label": "People" }, ...items);
  return drawGroup("People", list, ...(isOwner ? [drawInvitation(context, set)] : []));
}

type SetAccess = (person: string, access: string) => Promise<boolean>;

function isFor(person: string, line: JsonObject): boolean {
  return textOf(line, "person") === person;
}

function drawLine(line: JsonObject, set: SetAccess | undefined): HTMLElement {
  const [person, access] = [textOf(line, "person"), textOf(line, "access")];
  const isEverybody = person === EVERYBODY;
  const name = isEverybody ? "Everybody in the workspace" : formatPerson(person);
  const who = isEverybody ? el("span", {}, name) : drawPerson(person);
  const right = el("span", { class: "note" }, inWords(access));
  const buttons = el("span", { class: "actions" });
  const offer = (text: string, next: string): void => {
    const action = async (): Promise<unknown> => set?.(person, next);
    const key = { "data-key": `member:${person}:${next}` };
    const label = { class: "small", "aria-label": `${text}: ${name}` };
    buttons.append(drawButton(text, action, { ...label, ...key }));
  };
  if (set && access !== "member") offer(access === "owner" ? "Make a member" : "Let in", "member");
  if (set && access === "member" && !isEverybody) offer("Make an owner", "owner");
  if (set && access !== "none") offer("Remove", "none");
  return el("li", {}, el("div", {}, who, right), buttons);
}

const FIELDS: readonly EditField[] = [
  {
    name: "person",
    label: "Add a person of the workspace",
    kind: "line",
    most: MOST_NAME,
    check: (text) => (/\S/.test(text) ? undefined : "A person needs a name."),
  },
  { name: "access", label: "Access", kind: "choice", choices: ["member", "owner", "none"] },
];

function drawInvitation({ go }: SectionContext, set: SetAccess): HTMLElement {
  return drawEditForm({
    id: "members/new",
    row: { access: "member" },
    fields: FIELDS,
    submit: "Set the access",
    isStanding: true,
    save: ({ person = "", access = "member" }) => set(toActor(person.trim()), access),
    close: () => go({ section: "project" }),
  });
}

/** A name without a kind is that of a person. */
function toActor(name: string): string {
  return name.includes(":") ? name : `user:${name}`;
}
