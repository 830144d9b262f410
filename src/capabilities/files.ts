import type { KeptFile } from "../protocol/conversation/file-part.ts";

/**
 * Reads the content of the files of a conversation.
 * Contract: answers base64 by hash; leaves out a file that is not kept any more. Fails: throws when
 * the run that keeps a file cannot be reached.
 */
export interface FileShelf {
  load(files: Iterable<KeptFile>): Promise<ReadonlyMap<string, string>>;
}
