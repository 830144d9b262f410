import { parseSync } from "oxc-parser";
import { isFunction, namesBoundIn } from "./scope.ts";
import { memberOf, nodeOf, nodesOf, partsOf, textOf, type SyntaxNode } from "./syntax.ts";
import { PURE_PARTS, REFUSED_GLOBALS } from "./refusals.ts";

/** One place of a module. */
export interface Place {
  readonly line: number;
  readonly column: number;
}

/** Something that reaches the world past the capabilities. */
export interface Impurity extends Place {
  /** As it is written: `fetch`, `import()`. */
  readonly name: string;
  /** Of a global object, the global that is read: `fetch` of `globalThis.fetch`. */
  readonly part?: string;
  readonly instead: string;
}

/** One import that runs, or one export from another module. A name that only types use is none. */
export interface ModuleImport extends Place {
  readonly specifier: string;
  /** Each imported name with its name here; `*` stands for all. Types are left out. */
  readonly names: readonly (readonly [imported: string, local: string])[];
  readonly isReexport: boolean;
}

/** What a module says about itself. */
export interface ModuleFacts {
  readonly impurities: readonly Impurity[];
  readonly imports: readonly ModuleImport[];
  /** Names of the module that its functions use. */
  readonly usedInFunctions: ReadonlySet<string>;
}

/**
 * Finds the globals that a module uses, with the scopes of JavaScript: a parameter called `fetch`
 * is no global.
 * Contract: pure.
 */
export function inspectModule(file: string, text: string): ModuleFacts {
  const inspection = new Inspection(text);
  inspection.visit(nodeOf(parseSync(file, text).program) as SyntaxNode, []);
  const { impurities, imports, used, usedInFunctions } = inspection;
  const isUsed = ({ names, isReexport }: ModuleImport): boolean =>
    isReexport || names.length === 0 || names.some(([, local]) => local === "*" || used.has(local));
  return { impurities, imports: imports.filter(isUsed), usedInFunctions };
}

interface Step {
  readonly node: SyntaxNode;
  readonly field: string;
  readonly names: ReadonlySet<string> | undefined;
}

/** Fields that hold a name, not a use of one, unless they are computed. */
const NAMES = new Set(["key", "property", "label", "id", "local", "exported", "imported", "meta"]);
const CHANGES = /^(?:assign|defineProperty|defineProperties|deleteProperty|set|setPrototypeOf)$/;

class Inspection {
  readonly impurities: Impurity[] = [];
  readonly imports: ModuleImport[] = [];
  readonly used = new Set<string>();
  readonly usedInFunctions = new Set<string>();
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  visit(node: SyntaxNode, path: readonly Step[]): void {
    if (node.type === "Identifier") return this.#use(node, path);
    if (isImport(node)) this.imports.push(this.#readImport(node));
    if (node.type === "ImportExpression") this.#readDynamicImport(node);
    if (node.type === "CallExpression") this.#readRequire(node, path);
    if (reachesFunction(node, path.at(-1))) {
      this.#refuse(node, "constructor", "write the code into the module");
    }
    if (node.type === "MetaProperty" && nodeOf(node["meta"])?.["name"] === "import") {
      this.#refuse(node, "import.meta", "use the capabilities");
    }
    const names = namesBoundIn(node);
    for (const [field, part] of partsOf(node)) {
      const isName = NAMES.has(field) && node["computed"] !== true && part.type === "Identifier";
      if (!isName) this.visit(part, [...path, { node, field, names }]);
    }
  }

  #use(node: SyntaxNode, path: readonly Step[]): void {
    const name = String(node["name"]);
    const binder = path.findLast(({ names }) => names?.has(name));
    if (binder) {
      if (binder.node.type !== "Program") return;
      this.used.add(name);
      if (path.some((step) => isFunction(step.node))) this.usedInFunctions.add(name);
      return;
    }
    const instead = REFUSED_GLOBALS.get(name);
    if (instead !== undefined && !isPure(name, node, path)) {
      const [part] = readMembers(node, path).members;
      this.impurities.push({ name, instead, ...(part && { part }), ...this.#placeOf(node) });
    } else if (changesGlobal(node, path) && name !== "module" && name !== "exports") {
      this.#refuse(node, name, "change only objects of your own: all tools share this one");
    }
  }

  #refuse(node: SyntaxNode, name: string, instead: string): void {
    this.impurities.push({ name, instead, ...this.#placeOf(node) });
  }

  #readImport(node: SyntaxNode): ModuleImport {
    const isAll = node.type === "ExportAllDeclaration";
    const names = nodesOf(node["specifiers"])
      .filter((each) => each["importKind"] !== "type" && each["exportKind"] !== "type")
      .map((each) => {
        const imported = nodeOf(each["imported"]) ?? nodeOf(each["local"]);
        const isNamed = each.type === "ImportSpecifier" || each.type === "ExportSpecifier";
        const local = String(nodeOf(each["local"])?.["name"]);
        return [isNamed ? String(imported?.["name"]) : "*", local] as const;
      });
    return {
      specifier: textOf(nodeOf(node["source"])) ?? "",
      names: isAll ? [["*", "*"]] : names,
      isReexport: node.type !== "ImportDeclaration",
      ...this.#placeOf(node),
    };
  }

  #readDynamicImport(node: SyntaxNode): void {
    const specifier = textOf(nodeOf(node["source"]));
    if (specifier === undefined) {
      return this.#refuse(node, "import()", "name the module in a text, so that it can be checked");
    }
    this.imports.push(this.#importAll(node, specifier));
  }

  #importAll(node: SyntaxNode, specifier: string): ModuleImport {
    return { specifier, names: [["*", "*"]], isReexport: false, ...this.#placeOf(node) };
  }

  /** A package of CommonJS imports with `require`. */
  #readRequire(node: SyntaxNode, path: readonly Step[]): void {
    const specifier = textOf(nodesOf(node["arguments"])[0]);
    const isGlobal = !path.some(({ names }) => names?.has("require"));
    const isRequire = isGlobal && nodeOf(node["callee"])?.["name"] === "require";
    if (isRequire && specifier !== undefined) this.imports.push(this.#importAll(node, specifier));
  }

  #placeOf({ start }: SyntaxNode): Place {
    const before = this.#text.slice(0, start).split("\n");
    return { line: before.length, column: (before.at(-1)?.length ?? 0) + 1 };
  }
}

function isImport({ type, source }: SyntaxNode): boolean {
  return source !== null && /^(?:Import|ExportNamed|ExportAll)Declaration$/.test(type);
}

/**
 * Tells whether a node takes a `constructor`, unless it is compared or only its name is read.
 * Threat: the constructor of a function is `Function`, which runs a text as code.
 */
function reachesFunction(node: SyntaxNode, step: Step | undefined): boolean {
  if (node.type === "Property" && step?.node.type === "ObjectPattern") {
    return memberOf(node) === "constructor";
  }
  if (node.type !== "MemberExpression" || memberOf(node) !== "constructor") return false;
  const parent = step?.node;
  const isNameRead = parent?.type === "MemberExpression" && memberOf(parent) === "name";
  return !isNameRead && parent?.type !== "BinaryExpression";
}

/** Tells whether a use of a global depends only on arguments, or asks only whether there is one. */
function isPure(name: string, node: SyntaxNode, path: readonly Step[]): boolean {
  const { members, top } = readMembers(node, path);
  if (PURE_PARTS[name]?.(members) === true && !changesGlobal(node, path)) return true;
  const { node: parent, field } = top;
  if (parent.type === "UnaryExpression" && parent["operator"] === "typeof") return true;
  if (members.length > 0) return false;
  if (parent.type === "BinaryExpression" && parent["operator"] === "instanceof") return true;
  if (name !== "Date") return false;
  if (parent.type === "NewExpression" && field === "callee") {
    // Without arguments it reads the clock.
    return nodesOf(parent["arguments"]).length > 0;
  }
  const callee = nodeOf(parent["callee"]);
  return field === "arguments" && callee !== undefined && memberOf(callee) === "instance";
}

/** `crypto.subtle.digest` has the members `subtle` and `digest`. */
function readMembers(
  node: SyntaxNode,
  path: readonly Step[],
): { readonly members: readonly string[]; readonly top: Step } {
  const members: string[] = [];
  let at = path.length - 1;
  for (; at > 0; at--) {
    const step = path[at];
    const parent = step?.node;
    if (parent?.type === "ChainExpression" || parent?.type.startsWith("TS")) continue;
    if (parent?.type === "ParenthesizedExpression") continue;
    if (parent?.type !== "MemberExpression" || step?.field !== "object") break;
    members.push(memberOf(parent) ?? "random");
  }
  return { members, top: path[at] ?? { node, field: "", names: undefined } };
}

/** `WeakMap.prototype.get = …`, `delete JSON.parse`, `Object.assign(Array.prototype, …)`. */
function changesGlobal(node: SyntaxNode, path: readonly Step[]): boolean {
  const { members, top } = readMembers(node, path);
  const { node: parent, field } = top;
  const isWritten =
    (parent.type === "AssignmentExpression" && field === "left") ||
    parent.type === "UpdateExpression" ||
    (parent.type === "UnaryExpression" && parent["operator"] === "delete");
  if (isWritten) return members.length > 0;
  const callee = parent.type === "CallExpression" ? nodeOf(parent["callee"]) : undefined;
  const owner = nodeOf(callee?.["object"])?.["name"];
  if (!callee || (owner !== "Object" && owner !== "Reflect")) return false;
  const [target] = nodesOf(parent["arguments"]);
  const isTarget = target !== undefined && (target === node || path.some((s) => s.node === target));
  return field === "arguments" && isTarget && CHANGES.test(memberOf(callee) ?? "");
}
