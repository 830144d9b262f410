import { readFileSync } from "node:fs";
import * as v from "valibot";
import { scopeOrRole, tenantId, actorId } from "../../src/protocol/identity/api-token.ts";
import {
  developmentPerson,
  type DevelopmentPerson,
} from "../../src/protocol/identity/development.ts";

/** The people of `npm run dev`, in the folder of a deployment. */
export const PEOPLE_FILE = "tenant/people.json";

const person = v.strictObject({
  roles: v.optional(v.array(scopeOrRole), []),
  /** Absent: every scope of the API, of the tools and of the policy. */
  scopes: v.optional(v.array(scopeOrRole)),
});

const document = v.strictObject({
  tenantId,
  people: v.pipe(
    v.record(v.pipe(v.string(), v.regex(/^[a-z][a-z0-9_-]{0,31}$/)), person),
    v.check((people) => Object.keys(people).length > 0, "name one person or more"),
  ),
});

/** The people of `npm run dev`, by name. The first one acts unless a request names another. */
export type DevelopmentPeople = ReadonlyMap<string, DevelopmentPerson>;

/**
 * Reads the people of `npm run dev` from a file; docs/identity.md describes it.
 * Fails: throws with the file, the place and what is wrong there.
 */
export function readPeople(file: string): DevelopmentPeople {
  const read = v.safeParse(document, parseFile(file));
  if (!read.success) {
    const [{ message, path = [] }] = read.issues;
    throw new Error(`${file}: ${path.map(({ key }) => String(key)).join(".")}: ${message}`);
  }
  const { tenantId: tenant, people } = read.output;
  return new Map(
    Object.entries(people).map(([name, person]) => {
      const id = v.parse(actorId, `user:${name}`);
      return [name, { tenantId: tenant, actorId: id, ...person }];
    }),
  );
}

/**
 * The actor who stores the files of the tenant. It may do so whatever the people may, and no client
 * of the development server can name it.
 */
export function developmentService(people: DevelopmentPeople): DevelopmentPerson {
  const [{ tenantId: tenant } = { tenantId: "" }] = people.values();
  return v.parse(developmentPerson, { tenantId: tenant, actorId: "service:interlock-dev" });
}

function parseFile(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch (cause) {
    throw new Error(`${file} cannot be read: ${String(cause)}`, { cause });
  }
}

/** Puts one person first. Fails: throws for an unknown name. */
export function actAs(people: DevelopmentPeople, name: string): DevelopmentPeople {
  const chosen = people.get(name);
  if (!chosen) throw new Error(describeUnknown(people, name));
  return new Map([[name, chosen], ...people]);
}

/** Says that nobody has this name, and who there is. */
export function describeUnknown(people: DevelopmentPeople, name: string): string {
  return `There is no person ${JSON.stringify(name)}; there are ${[...people.keys()].join(", ")}.`;
}
