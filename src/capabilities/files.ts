import type { KeptFile } from "../protocol/conversation/file-part.ts";
import type { HashedImage, NewImage } from "../protocol/tool/content.ts";

/**
 * Reads the content of the files of a conversation.
 * Contract: answers base64 by hash; leaves out a file that is not kept any more. Fails: throws when
 * the run that keeps a file cannot be reached.
 */
export interface FileShelf {
  load(files: Iterable<KeptFile>): Promise<ReadonlyMap<string, string>>;
}

/** Keeps the images that tools answer, each once per conversation. */
export interface ImageKeeper {
  /**
   * Finds an image that the conversation keeps already, by its content.
   * Contract: never throws; answers an image that is not found with its hash.
   */
  identify(image: NewImage): Promise<KeptFile | HashedImage>;
  /**
   * Keeps an image. Undefined: the files of the conversation would be too large.
   * Contract: synchronous; the content is stored no later than what the journal gets next.
   */
  keep(image: HashedImage): KeptFile | undefined;
}
