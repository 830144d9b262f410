import type { FileShelf, ImageKeeper } from "../../capabilities/files.ts";
import type { RunJournal } from "../../capabilities/run-journal.ts";
import type { KeptFile } from "../../protocol/conversation/file-part.ts";
import { keptFilesOf } from "../../protocol/conversation/kept-files.ts";
import type { TranscriptMessage } from "../../protocol/conversation/message.ts";
import { MAX_CONVERSATION_FILE_BYTES } from "../../protocol/conversation/sent-file.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import { hashText } from "../../protocol/json/canonical-hash.ts";
import type { HashedImage, NewImage } from "../../protocol/tool/content.ts";

export interface ImagePorts {
  readonly shelf: FileShelf;
  readonly journal: Pick<RunJournal, "keepFile">;
  /** The run that keeps new images. */
  readonly runId: RunId;
}

/**
 * Keeps the images of a conversation's tools, each once.
 * Threat: tools fill the storage and the memory of a run with images.
 * Ownership: one per incarnation of a run; `messages` hold everything that is kept so far.
 */
export class ConversationImages implements ImageKeeper {
  readonly #ports: ImagePorts;
  readonly #kept: Map<string, KeptFile>;
  #bytes: number;

  constructor(ports: ImagePorts, messages: readonly TranscriptMessage[]) {
    this.#ports = ports;
    this.#kept = new Map(keptFilesOf(messages));
    this.#bytes = [...this.#kept.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  }

  async identify(image: NewImage): Promise<KeptFile | HashedImage> {
    const hash = await hashText(image.base64);
    const known = this.#kept.get(hash);
    // An earlier run of the conversation may have deleted it.
    const found = known && (await this.#ports.shelf.load([known]).catch(() => undefined));
    return known && found?.has(hash) ? known : { ...image, hash };
  }

  keep({ hash, mediaType, bytes, base64 }: HashedImage): KeptFile | undefined {
    const { journal, runId: keeper } = this.#ports;
    const known = this.#kept.get(hash);
    if (known?.keeper === keeper) return known;
    const added = known ? 0 : bytes;
    if (this.#bytes + added > MAX_CONVERSATION_FILE_BYTES) return undefined;
    journal.keepFile(hash, base64);
    const file = { kind: "kept", hash, mediaType, bytes, keeper } as const;
    this.#kept.set(hash, file);
    this.#bytes += added;
    return file;
  }
}
