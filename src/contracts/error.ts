/** A contract that may not be registered. It is a bug of its author, so it stops the start. */
export class ContractError extends Error {
  override readonly name = "ContractError";

  /** `tool` is whatever stands where the name should be. */
  constructor(tool: unknown, reason: string, options?: ErrorOptions) {
    super(`Tool ${JSON.stringify(tool)}: ${reason}`, options);
  }
}
