import type { CheckContext, ToolInvocationContext } from "../../protocol/invocation/record.ts";
import type { ExpectedState } from "../../protocol/outcome/verification.ts";

/**
 * The functions of an author that get capabilities: these alone can act or look outside. The other
 * functions of a contract compute from what they are given.
 */
export interface AuthorCode {
  execute?(args: never, context: ToolInvocationContext, capabilities: never): unknown;
  checkState?(args: never, context: CheckContext, capabilities: never): unknown;
  preview?(args: never, context: ToolInvocationContext, capabilities: never): unknown;
  reconcile?(args: never, context: ToolInvocationContext, capabilities: never): unknown;
  verify?(
    args: never,
    expected: ExpectedState,
    context: ToolInvocationContext,
    capabilities: never,
  ): unknown;
}

let seal: (code: AuthorCode) => Sealed;
let reveal: (code: Sealed) => AuthorCode;

/**
 * Stands in a contract for its author's functions. It has no members, and nobody can call it.
 * Threat: a tool replaces functions that all share; nothing replaces a private field.
 */
class Sealed {
  readonly #code: AuthorCode;

  private constructor(code: AuthorCode) {
    this.#code = code;
    Object.freeze(this);
  }

  static {
    seal = (code) => new Sealed(code);
    reveal = (code) => (#code in code ? code.#code : {});
  }
}

export type { Sealed as SealedCode };

interface Coded {
  readonly code: Sealed;
}

/**
 * Seals the functions of a tool (seeds/000 #31).
 * Threat: a tool calls another tool past its policy, its approvals and its record.
 */
export function sealCode(code: AuthorCode): Sealed {
  return seal(code);
}

/**
 * Opens what sealCode sealed; answers no function for anything else.
 * Ownership: in a Worker only src/contracts/bind/bind-tool.ts calls what is inside. A search in
 * test/single-path.node.test.ts enforces that.
 */
export function revealCode({ code }: Coded): AuthorCode {
  return reveal(code);
}

/** Tells whether the author of a contract wrote a function. */
export function hasCode(contract: Coded, name: keyof AuthorCode): boolean {
  return revealCode(contract)[name] !== undefined;
}
