/**
 * Thrown for a contract that cannot be registered. It is a bug of the author and stops the start.
 */
export class ContractError extends Error {
  override readonly name = "ContractError";

  /** `tool` is the value of the contract's `name`, which may be anything. */
  constructor(tool: unknown, reason: string, options?: ErrorOptions) {
    super(`Tool ${JSON.stringify(tool)}: ${reason}`, options);
  }
}
