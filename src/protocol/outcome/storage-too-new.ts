/**
 * Refusal of an object whose storage newer code has written. The object neither reads nor writes
 * it, so nothing is lost: the request succeeds once the newer code is deployed again.
 */
export class StorageTooNewError extends Error {
  static override readonly name = "StorageTooNewError";
  override readonly name = StorageTooNewError.name;
}

/**
 * Recognises the refusal on both sides of an RPC, which keeps the name of an error but not its
 * class.
 */
export function isStorageTooNew(error: unknown): boolean {
  return error instanceof Error && error.name === StorageTooNewError.name;
}
