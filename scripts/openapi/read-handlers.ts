import { join, relative } from "node:path";
import { SyntaxKind, type Node } from "typescript/unstable/ast";
import {
  isCallExpression,
  isFunctionDeclaration,
  isIdentifier,
  isPropertyAccessExpression,
  isStringLiteral,
} from "typescript/unstable/ast/is";
import { SymbolFlags, type Symbol as TypeSymbol, type Type } from "typescript/unstable/sync";
import { PACKAGE_FOLDER } from "../../cli/project/folders.ts";
import type { Sources } from "./open-sources.ts";
import { toText } from "./schemas-of-types.ts";

/** Only what lies here answers requests. */
const SOURCES = join(PACKAGE_FOLDER, "src/http/");

/** What the code of a handler does, with everything that it can call. */
export interface HandlerFacts {
  /** Codes of the problems that it may answer. */
  readonly codes: Set<string>;
  /** Those of them that say when to try again. */
  readonly retried: Set<string>;
  /** Request headers that it reads. */
  readonly headers: Set<string>;
  /** Query parameters that it reads by their names. */
  readonly parameters: Set<string>;
  /** Schemas that read its query and its body: `<file>#<export>`, or `services.<name>`. */
  readonly queries: Set<string>;
  readonly bodies: Set<string>;
  /** Names of the functions and constants that it reaches, and of the fields that it writes. */
  readonly names: Set<string>;
}

interface Unit extends HandlerFacts {
  readonly reaches: readonly Node[];
}

/** The function of a route, found in the sources. */
export interface Handler {
  readonly node: Node;
  /** What its comment says that the route does. */
  readonly summary: string;
}

const FACTS = ["codes", "retried", "headers", "parameters", "queries", "bodies", "names"] as const;
/** No facts yet. */
export const newFacts = () => ({
  codes: new Set<string>(),
  retried: new Set<string>(),
  headers: new Set<string>(),
  parameters: new Set<string>(),
  queries: new Set<string>(),
  bodies: new Set<string>(),
  names: new Set<string>(),
});

/** Reads from the sources what handlers do, so that nobody writes it a second time. */
export class HandlerReader {
  readonly #sources: Sources;
  readonly #units = new Map<Node, Unit>();
  readonly #functions = new Map<string, Node[]>();

  constructor(sources: Sources) {
    this.#sources = sources;
    for (const name of sources.program.getSourceFileNames()) {
      if (!name.startsWith(SOURCES)) continue;
      sources.program.getSourceFile(name)?.forEachChild((node) => {
        if (!isFunctionDeclaration(node) || !node.name) return;
        const known = this.#functions.get(node.name.text) ?? [];
        this.#functions.set(node.name.text, [...known, node]);
      });
    }
  }

  /** Finds the function that a route calls. Its comment begins with method and path. */
  find(handle: (asked: never) => unknown, route: string): Handler {
    // Handlers of routes that are made for a name are functions without one.
    const called = handle.name === "handle" && /=>\s*(\w+)\(/.exec(handle.toString())?.[1];
    const found = this.#functions.get(called || handle.name) ?? [];
    const described = found.map((node) => ({ node, comment: this.#commentOf(node) }));
    const own = described.filter(({ comment }) => comment.startsWith(`\`${route}\``));
    const [handler] = described.length === 1 ? described : own;
    const summary =
      /^`[A-Z]+ \/\S*`: ([\s\S]*?)(?=\s(?:Threat|Contract|Fails|Limit|Source):|$)/.exec(
        handler?.comment ?? "",
      )?.[1];
    if (!handler || summary === undefined) {
      throw new Error(`The function of ${route} needs a comment that begins with \`${route}\`.`);
    }
    return { node: handler.node, summary: summary.replace(/^./, (first) => first.toUpperCase()) };
  }

  /** Finds a function by its name, for what every route does. */
  functionOf(name: string): Node {
    const [node, ...others] = this.#functions.get(name) ?? [];
    if (!node || others.length > 0) throw new Error(`There is no one function ${name}.`);
    return node;
  }

  /** Collects what a function does, with all that it reaches; `without`: what it never calls. */
  factsOf(node: Node, without: readonly Node[] = []): HandlerFacts {
    const facts = newFacts();
    const open = [node];
    const seen = new Set<Node>([node, ...without]);
    for (let next = open.pop(); next; next = open.pop()) {
      const unit = this.#units.get(next) ?? this.#readUnit(next);
      this.#units.set(next, unit);
      for (const name of FACTS) for (const value of unit[name]) facts[name].add(value);
      for (const reached of unit.reaches) {
        if (!seen.has(reached)) open.push(reached);
        seen.add(reached);
      }
    }
    return facts;
  }

  #commentOf(node: Node): string {
    const name = isFunctionDeclaration(node) ? node.name : undefined;
    const symbol = name && this.#sources.checker.getSymbolAtLocation(name);
    return toText(symbol?.getDocumentationComment(this.#sources.checker) ?? "");
  }

  #readUnit(unit: Node): Unit {
    const { checker } = this.#sources;
    const facts = newFacts();
    const identifiers: Node[] = [];
    const visit = (node: Node): void => {
      if (isIdentifier(node)) identifiers.push(node);
      if (node.kind === SyntaxKind.PropertyAssignment) facts.names.add(firstWordOf(node));
      if (isCallExpression(node)) this.#readCall(node, facts);
      node.forEachChild(visit);
    };
    visit(unit);
    const reaches: Node[] = [];
    for (const symbol of checker.getSymbolAtLocation(identifiers)) {
      if (!symbol) continue;
      const declared = this.#declarationOf(symbol);
      facts.names.add(symbol.name);
      if (declared?.getSourceFile().fileName.startsWith(SOURCES)) reaches.push(declared);
    }
    return { ...facts, reaches };
  }

  /** The declaration of a function, a constant or a class of ours. */
  #declarationOf(symbol: TypeSymbol): Node | undefined {
    const { checker } = this.#sources;
    const isAlias = (symbol.flags & SymbolFlags.Alias) !== 0;
    const target = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
    const reached = SymbolFlags.Function | SymbolFlags.Variable | SymbolFlags.Class;
    if ((target.flags & reached) === 0) return undefined;
    const node = target.valueDeclaration?.resolve();
    return node?.kind === SyntaxKind.Parameter ? undefined : node;
  }

  #readCall(node: Node, facts: ReturnType<typeof newFacts>): void {
    if (!isCallExpression(node)) return;
    const { expression, arguments: given } = node;
    const [first, second] = given;
    if (isPropertyAccessExpression(expression) && first && isStringLiteral(first)) {
      if (!["get", "getAll", "has"].includes(expression.name.text)) return;
      const owner = expression.expression.getText();
      if (/(?:^|\.)headers$/.test(owner)) facts.headers.add(first.text);
      if (/(?:searchParams|^query|^named)$/.test(owner)) facts.parameters.add(first.text);
      return;
    }
    if (!isIdentifier(expression) || !first) return;
    if (expression.text === "problem") {
      const codes = this.#readCodes(first);
      for (const code of codes) facts.codes.add(code);
      if (isRetried(node, second)) for (const code of codes) facts.retried.add(code);
    }
    if (!second) return;
    if (expression.text === "readQuery") this.#addSchema(second, facts.queries);
    if (/^read(?:Sized)?Json$/.test(expression.text)) this.#addSchema(second, facts.bodies);
  }

  #readCodes(node: Node): readonly string[] {
    const type = this.#sources.checker.getTypeAtLocation(node);
    const types: readonly Type[] = type?.isUnionType() ? type.getTypes() : type ? [type] : [];
    // The function that formats a code takes any of them.
    if (types.length > 40) throw new Error(`Nobody can tell which codes ${node.getText()} is.`);
    return types.flatMap((one) => (one.isStringLiteralType() ? [one.value] : []));
  }

  #addSchema(node: Node, schemas: Set<string>): void {
    if (!isIdentifier(node)) return void schemas.add(node.getText());
    if (node.text === "schema") return;
    const symbol = this.#sources.checker.getSymbolAtLocation(node);
    const declared = symbol && this.#declarationOf(symbol);
    if (!declared) return void schemas.add(node.text);
    const file = relative(PACKAGE_FOLDER, declared.getSourceFile().fileName);
    schemas.add(`${file}#${node.text}`);
  }
}

/** The name of a field that an object literal sets. */
function firstWordOf(node: Node): string {
  return /^["']?([\w-]+)/.exec(node.getText())?.[1] ?? "";
}

/** Tells whether a refusal has the header Retry-After: there, or in the headers that it names. */
function isRetried(call: Node, given: Node | undefined): boolean {
  const text = given?.getText() ?? "";
  if (text.includes("retry-after")) return true;
  if (!/\bheaders\b(?!:)/.test(text)) return false;
  let around: Node = call;
  while (around.parent && around.kind !== SyntaxKind.Block) around = around.parent;
  return around.getText().includes("retry-after");
}
