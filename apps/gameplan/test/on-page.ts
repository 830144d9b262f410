import type { Person } from "../../../test/story/person.ts";

/** Parts of GamePlan's page, as a person finds them. */

export const project = ({ page }: Person) => page.getByRole("main", { name: "Project" });
export const cards = ({ page }: Person) => page.getByRole("log").getByRole("group");
export const section = ({ page }: Person, name: string) =>
  page.getByRole("navigation", { name: "Sections" }).getByRole("link", { name }).click();
export const heading = (person: Person, name: string) =>
  project(person).getByRole("heading", { name, level: 2 }).waitFor();
