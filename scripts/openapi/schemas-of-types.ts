import {
  SymbolFlags,
  TypeFlags,
  type Checker,
  type Symbol as TypeSymbol,
  type Type,
} from "typescript/unstable/sync";

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 has it. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

const INTRINSIC: readonly (readonly [TypeFlags, Schema])[] = [
  [TypeFlags.Any | TypeFlags.Unknown, {}],
  [TypeFlags.Boolean, { type: "boolean" }],
  [TypeFlags.StringLike, { type: "string" }],
  [TypeFlags.NumberLike, { type: "number" }],
  [TypeFlags.Null, { type: "null" }],
];

/**
 * Writes types of TypeScript as schemas of what they look like in JSON. A type with a name of its
 * own becomes a component. Objects are closed: an answer has no field that its type does not have.
 */
export class TypeSchemas {
  readonly components = new Map<string, Schema>();
  readonly #types = new Map<string, number>();
  readonly #checker: Checker;

  constructor(checker: Checker) {
    this.#checker = checker;
  }

  /** Fails: throws for a type that JSON does not have, and for two types of one name. */
  of(type: Type): Schema {
    const name = this.#nameOf(type);
    if (name === undefined) return this.#write(type);
    const known = this.#types.get(name);
    if (known === undefined) {
      this.#types.set(name, type.id);
      this.components.set(name, {});
      this.components.set(name, this.#write(type));
    } else if (known !== type.id) {
      throw new Error(`Two types of the answers have the name ${name}. Rename one of them.`);
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  /** The fields of an object type, with their types. */
  fieldsOf(type: Type): readonly (readonly [symbol: TypeSymbol, type: Type])[] {
    return this.#checker.getPropertiesOfType(type).map((field) => {
      const found = this.#checker.getTypeOfSymbol(field);
      if (!found) throw new Error(`The field ${field.name} has no type.`);
      return [field, found] as const;
    });
  }

  #nameOf(type: Type): string | undefined {
    const isPlain = !type.isUnionType() && !type.isObjectType() && !type.isIntersectionType();
    if (isPlain || this.#checker.isArrayLikeType(type) || isText(type)) return undefined;
    const symbol = type.getAliasSymbol() ?? type.getSymbol();
    const isOfParts = type.getAliasTypeArguments().length > 0;
    return symbol && !isOfParts && /^[A-Z]\w+$/.test(symbol.name) ? symbol.name : undefined;
  }

  #write(type: Type): Schema {
    if (type.isLiteralType()) return { const: type.value };
    const intrinsic = INTRINSIC.find(([flags]) => (type.flags & flags) !== 0);
    if (intrinsic) return intrinsic[1];
    if (isText(type)) return { type: "string" };
    if (type.isUnionType()) return this.#writeUnion(type.getTypes());
    if (this.#checker.isArrayLikeType(type) && type.isTypeReference()) return this.#writeList(type);
    if (type.isObjectType() || type.isIntersectionType()) return this.#writeObject(type);
    throw new Error(`JSON has no ${this.#checker.typeToString(type)}.`);
  }

  #writeUnion(types: readonly Type[]): Schema {
    const present = types.filter(({ flags }) => (flags & TypeFlags.Undefined) === 0);
    const literals = present.filter((one) => one.isLiteralType());
    const schemas = present.filter((one) => !one.isLiteralType()).map((one) => this.of(one));
    if (literals.length === 1) schemas.unshift(this.#write(literals[0] as Type));
    if (literals.length > 1) schemas.unshift({ enum: literals.map(({ value }) => value) });
    return schemas.length === 1 ? (schemas[0] as Schema) : { anyOf: schemas };
  }

  #writeList(type: Parameters<Checker["getTypeArguments"]>[0]): Schema {
    const items = this.#checker.getTypeArguments(type).map((item) => this.of(item));
    if (!this.#checker.isTupleType(type)) return { type: "array", items: items[0] };
    return { type: "array", prefixItems: items, minItems: items.length, maxItems: items.length };
  }

  #writeObject(type: Type): Schema {
    const fields = this.fieldsOf(type);
    const [index] = this.#checker.getIndexInfosOfType(type);
    const required = fields.filter(([{ flags }]) => (flags & SymbolFlags.Optional) === 0);
    const properties = fields.map(([field, of]) => {
      const description = toText(field.getDocumentationComment(this.#checker));
      return [field.name, { ...this.of(of), ...(description && { description }) }] as const;
    });
    return {
      type: "object",
      ...(properties.length > 0 && { properties: Object.fromEntries(properties) }),
      ...(required.length > 0 && { required: required.map(([{ name }]) => name) }),
      additionalProperties: index ? this.of(index.valueType) : false,
    };
  }
}

/** A text with a brand is an intersection, and a template is a type of its own. */
function isText(type: Type): boolean {
  if (type.isTemplateLiteralType()) return true;
  const isString = ({ flags }: Type): boolean => (flags & TypeFlags.StringLike) !== 0;
  return type.isIntersectionType() && type.getTypes().some(isString);
}

/** Writes a comment as one line. */
export function toText(comment: string): string {
  return comment.replaceAll(/\s+/g, " ").trim();
}
