import type { AttachedFile, TakenFiles } from "./attached-file.ts";

/** Holds the files of the next question. */
export interface FileTray {
  /** What is attached, and what could not be. */
  readonly root: HTMLElement;
  /** Opens the picker of files. */
  readonly button: HTMLElement;
  readonly files: readonly AttachedFile[];
  /** True while a file is read: a question waits for it. */
  readonly isReading: boolean;
  add(files: Iterable<File>): void;
  /** Puts files back that were not sent. */
  put(files: readonly AttachedFile[]): void;
  clear(): void;
}

export interface FileTrayPorts {
  readonly takes: TakenFiles;
  readonly onChange: () => void;
}
