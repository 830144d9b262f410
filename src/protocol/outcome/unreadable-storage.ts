const CODES = ["storage_too_new", "storage_too_old"] as const;

/**
 * Why this code cannot read the storage of an object: newer code wrote it, or code so old that no
 * migration leads on from it.
 */
export type UnreadableStorage = (typeof CODES)[number];

/**
 * Refusal of an object whose storage this code cannot read. The object neither reads nor writes it,
 * so nothing is lost: a request succeeds once code that reads it is deployed again.
 */
export class UnreadableStorageError extends Error {
  /** The code: an RPC keeps the name of an error, but neither its class nor its other fields. */
  override readonly name: UnreadableStorage;

  constructor(code: UnreadableStorage, message: string) {
    super(message);
    this.name = code;
  }
}

/** Reads the code of such a refusal, on both sides of an RPC; undefined for any other error. */
export function unreadableStorageOf(error: unknown): UnreadableStorage | undefined {
  return error instanceof Error ? CODES.find((code) => code === error.name) : undefined;
}
