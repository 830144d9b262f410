import { isErased, nodeOf, nodesOf, partsOf, type SyntaxNode } from "./syntax.ts";

const FUNCTION = /^(?:FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;

export function isFunction({ type }: SyntaxNode): boolean {
  return FUNCTION.test(type);
}

/**
 * The names that a node binds for its parts; undefined for a node that opens no scope.
 * Contract: pure. Types and `declare` bind nothing, because they do not run.
 */
export function namesBoundIn(node: SyntaxNode): ReadonlySet<string> | undefined {
  switch (node.type) {
    case "BlockStatement":
      return new Set(ofStatements(nodesOf(node["body"])));
    case "Program":
    case "StaticBlock":
    case "TSModuleBlock":
      return new Set([...ofStatements(nodesOf(node["body"])), ...hoisted(node)]);
    case "SwitchStatement":
      return new Set(
        nodesOf(node["cases"]).flatMap((each) => ofStatements(nodesOf(each["consequent"]))),
      );
    case "ForStatement":
      return new Set(ofStatements(nodesOf(node["init"])));
    case "ForInStatement":
    case "ForOfStatement":
      return new Set(ofStatements(nodesOf(node["left"])));
    case "CatchClause":
      return new Set(ofPattern(nodeOf(node["param"])));
    case "ClassDeclaration":
    case "ClassExpression":
      return new Set(ofPattern(nodeOf(node["id"])));
    default:
      if (!isFunction(node)) return undefined;
      return new Set([
        ...ofPattern(nodeOf(node["id"])),
        ...nodesOf(node["params"]).flatMap(ofPattern),
        ...hoisted(node),
        "arguments",
      ]);
  }
}

function ofStatements(statements: readonly SyntaxNode[]): readonly string[] {
  return statements.flatMap((statement) => {
    if (isErased(statement)) return [];
    switch (statement.type) {
      case "ExportNamedDeclaration":
      case "ExportDefaultDeclaration":
        return ofStatements(nodesOf(statement["declaration"]));
      case "ImportDeclaration":
        return nodesOf(statement["specifiers"])
          .filter((specifier) => !isErased(specifier))
          .flatMap((specifier) => ofPattern(nodeOf(specifier["local"])));
      case "VariableDeclaration":
        return nodesOf(statement["declarations"]).flatMap((each) => ofPattern(nodeOf(each["id"])));
      case "ClassDeclaration":
      case "FunctionDeclaration":
      case "TSEnumDeclaration":
      case "TSImportEqualsDeclaration":
      case "TSModuleDeclaration":
        return ofPattern(nodeOf(statement["id"]));
      default:
        return [];
    }
  });
}

/** The names of `var` within blocks, which belong to the whole function. */
function hoisted(node: SyntaxNode): readonly string[] {
  return partsOf(node).flatMap(([, part]) => {
    if (isFunction(part)) return [];
    const isVar = part.type === "VariableDeclaration" && part["kind"] === "var";
    return (isVar ? ofStatements([part]) : []).concat(hoisted(part));
  });
}

function ofPattern(pattern: SyntaxNode | undefined): readonly string[] {
  if (!pattern) return [];
  switch (pattern.type) {
    case "Identifier":
      return [String(pattern["name"])];
    case "ObjectPattern":
      return nodesOf(pattern["properties"]).flatMap((each) =>
        ofPattern(nodeOf(each.type === "RestElement" ? each["argument"] : each["value"])),
      );
    case "ArrayPattern":
      return nodesOf(pattern["elements"]).flatMap(ofPattern);
    case "AssignmentPattern":
      return ofPattern(nodeOf(pattern["left"]));
    case "RestElement":
      return ofPattern(nodeOf(pattern["argument"]));
    case "TSParameterProperty":
      return ofPattern(nodeOf(pattern["parameter"]));
    default:
      return [];
  }
}
