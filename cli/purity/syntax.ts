import { visitorKeys } from "oxc-parser";

/** A node of a syntax tree (ESTree, with the types of TypeScript). */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly [field: string]: unknown;
}

/** Answers a node's member as a node. */
export function nodeOf(value: unknown): SyntaxNode | undefined {
  const isNode = typeof value === "object" && value !== null && "type" in value;
  return isNode ? (value as SyntaxNode) : undefined;
}

/** Answers a node's member as a list of nodes. */
export function nodesOf(value: unknown): readonly SyntaxNode[] {
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  return list.flatMap((item) => nodeOf(item) ?? []);
}

/** Nodes of TypeScript that hold code. All others are types. */
const CODE = new Set([
  "TSAsExpression",
  "TSEnumBody",
  "TSEnumDeclaration",
  "TSEnumMember",
  "TSExportAssignment",
  "TSImportEqualsDeclaration",
  "TSInstantiationExpression",
  "TSModuleBlock",
  "TSModuleDeclaration",
  "TSNonNullExpression",
  "TSParameterProperty",
  "TSQualifiedName",
  "TSSatisfiesExpression",
  "TSTypeAssertion",
]);

/** Tells whether nothing of a node runs: a type, or what is only declared. */
export function isErased({ type, declare, importKind, exportKind }: SyntaxNode): boolean {
  const isType = type.startsWith("TS") && !CODE.has(type);
  return isType || declare === true || importKind === "type" || exportKind === "type";
}

/** The parts of a node that run, each with the name of its field. */
export function partsOf(node: SyntaxNode): readonly (readonly [field: string, part: SyntaxNode])[] {
  const parts: (readonly [string, SyntaxNode])[] = [];
  for (const field of visitorKeys[node.type] ?? []) {
    // One loop without lists between: a build looks at every node of every tool.
    const value = node[field];
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const item of items) {
      const part = nodeOf(item);
      if (part && !isErased(part)) parts.push([field, part]);
    }
  }
  return parts;
}

/** The text of a literal without parts; undefined for anything else. */
export function textOf(node: SyntaxNode | undefined): string | undefined {
  if (node?.type === "Literal")
    return typeof node["value"] === "string" ? node["value"] : undefined;
  if (node?.type !== "TemplateLiteral") return undefined;
  const quasis = nodesOf(node["quasis"]);
  const value = quasis[0]?.["value"] as { readonly cooked?: string } | undefined;
  return quasis.length === 1 ? value?.cooked : undefined;
}

/** The name that a member expression or a property reads; undefined when it is computed. */
export function memberOf(node: SyntaxNode): string | undefined {
  const property = nodeOf(node["property"] ?? node["key"]);
  const isName = node["computed"] !== true && property?.type !== "Literal";
  return isName ? String(property?.["name"]) : textOf(property);
}
