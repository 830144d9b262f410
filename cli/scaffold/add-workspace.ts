import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { CommandError, UsageError } from "../command.ts";
import { PACKAGE_FOLDER, projectFolder } from "../project/folders.ts";

const NAME = /^[a-z][a-z0-9]{0,31}$/;
const ENTRY = "src/index.ts";
const HOSTS = "src/workspaces.ts";
const SETTINGS = "wrangler.toml";

/**
 * Adds a workspace to the deployment in the current folder, and binds its object in every
 * environment. Returns the files that it wrote. What is there already stays, so that a second call
 * adds what the first one could not.
 * Fails: throws a UsageError on a bad name, a CommandError when a file cannot be read. Then nothing
 * was written.
 */
export function addWorkspace(name: string): readonly string[] {
  if (!NAME.test(name)) {
    throw new UsageError(
      `${JSON.stringify(name)} is no name: use up to 32 lower-case letters and digits.`,
    );
  }
  const project = projectFolder();
  if (project === PACKAGE_FOLDER) {
    throw new CommandError("This is Interlock itself. docs/business-data.md says how to go on.");
  }
  const definition = `src/tools/${name}/workspace.ts`;
  const read = (file: string): string | undefined =>
    existsSync(join(project, file)) ? readFileSync(join(project, file), "utf8") : undefined;
  const texts = new Map([
    [definition, read(definition) ?? definitionText(name)],
    [HOSTS, host(read(HOSTS), name)],
    [ENTRY, enter(read(ENTRY) ?? "")],
    [SETTINGS, bind(read(SETTINGS) ?? "")],
  ]);
  const changed = [...texts].filter(([file, text]) => text !== read(file));
  for (const [file, text] of changed) {
    mkdirSync(dirname(join(project, file)), { recursive: true });
    writeFileSync(join(project, file), text);
  }
  return changed.map(([file]) => file);
}

/** The list of workspaces, with one more. */
function host(text: string | undefined, name: string): string {
  const line = `import { ${name} } from "./tools/${name}/workspace.ts";\n`;
  if (text === undefined) {
    const imports = `import { hostWorkspaces } from "interlock-edge";\n${line}`;
    return `${imports}\nexport const workspaces = hostWorkspaces([${name}]);\n`;
  }
  if (text.includes(line)) return text;
  const found = /hostWorkspaces\(\[([^\]]*)\]\)/.exec(text);
  if (!found) throw lost(HOSTS, "hostWorkspaces([...])");
  const names = [...(found[1] ?? "").split(","), name].map((one) => one.trim()).filter(Boolean);
  return withImport(text, line).replace(found[0], `hostWorkspaces([${names.join(", ")}])`);
}

/** The entry, which hands over the workspaces and exports the class of their object. */
function enter(text: string): string {
  const line = 'import { workspaces } from "./workspaces.ts";\n';
  if (text.includes("WorkspaceObject")) return text;
  const option = /^( +)pages: /m.exec(text) ?? /^( +)tools: /m.exec(text);
  const exported = /^export const \{[^}]*\bTenantObject\b[^}]*\} = \w+;\n/m.exec(text);
  if (!option) throw lost(ENTRY, "defineDeployment({ tools: ... })");
  if (!exported) throw lost(ENTRY, "export const { RunObject, TenantObject } = ...");
  const added = text
    .replace(option[0], `${option[1]}workspaces,\n${option[0]}`)
    .replace(exported[0], `${exported[0]}export const { WorkspaceObject } = workspaces;\n`);
  return withImport(added, line);
}

function withImport(text: string, line: string): string {
  const last = [...text.matchAll(/^import [^;]*;\n/gm)].at(-1);
  const at = last ? last.index + last[0].length : 0;
  return text.slice(0, at) + line + text.slice(at);
}

/** wrangler.toml with the binding in each environment, beside that of the tenant, and the class. */
function bind(text: string): string {
  const bindings =
    /^\[\[((?:env\.[\w-]+\.)?durable_objects\.bindings)\]\]\nname = "TENANTS"\nclass_name = "TenantObject"\n/gm;
  const binding = (table: string): string =>
    `[[${table}]]\nname = "WORKSPACES"\nclass_name = "WorkspaceObject"\n`;
  if (!bindings.test(text)) throw lost(SETTINGS, "a binding TENANTS of the class TenantObject");
  const bound = text.replaceAll(bindings, (block, table: string) =>
    text.includes(binding(table)) ? block : `${block}\n${binding(table)}`,
  );
  const tenant = /^\[exports\.TenantObject\]\n(?:[^[\n].*\n)+/m.exec(bound);
  if (bound.includes("[exports.WorkspaceObject]")) return bound;
  if (!tenant) throw lost(SETTINGS, "[exports.TenantObject]");
  const own = '[exports.WorkspaceObject]\ntype = "durable-object"\nstorage = "sqlite"\n';
  return bound.replace(tenant[0], `${tenant[0]}\n${own}`);
}

function lost(file: string, what: string): CommandError {
  return new CommandError(
    `${file} does not have ${what}. Nothing was written. node_modules/interlock-edge/docs/` +
      "business-data.md shows what a workspace needs.",
  );
}

function definitionText(name: string): string {
  return `import { defineOperation, defineWorkspace, ok } from "interlock-edge/tools";
import * as v from "valibot";

const item = v.object({ id: v.string(), text: v.string() });

export const addItem = defineOperation({
  name: "add_item",
  kind: "write",
  input: v.strictObject({ text: v.pipe(v.string(), v.minLength(1), v.maxLength(200)) }),
  output: v.strictObject({ id: v.string() }),
  run(sql, { text }, { newId, announce }) {
    const id = newId();
    sql.run("INSERT INTO items (id, text) VALUES (?, ?)", id, text);
    announce({ entity: "item", id });
    return ok({ id });
  },
});

export const listItems = defineOperation({
  name: "list_items",
  kind: "read",
  input: v.strictObject({}),
  output: v.strictObject({ items: v.array(item) }),
  run: (sql) => ok({ items: sql.rows(item, "SELECT * FROM items") }),
});

export const ${name} = defineWorkspace({
  name: "${name}",
  // Add entries at the end. One that was deployed never changes.
  migrations: ["CREATE TABLE items (id TEXT PRIMARY KEY, text TEXT NOT NULL)"],
  operations: [addItem, listItems],
});
`;
}
