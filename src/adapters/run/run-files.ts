import type { FileShelf } from "../../capabilities/files.ts";
import type { RunGateway } from "../../capabilities/run.ts";
import type { RunId } from "../../protocol/identity/ids.ts";
import type { Viewer } from "../../protocol/identity/viewer.ts";

export interface RunFilesPorts {
  /** Reads a file that this run keeps. */
  readonly own: (hash: string) => string | undefined;
  readonly runs: RunGateway;
  /** In whose name the other runs of the conversation are asked. */
  readonly viewer: Viewer;
}

/**
 * Builds the shelf of one run: its own files, and those that earlier runs of the conversation keep.
 * Threat: a run reads files that its owner may not see. So each keeper checks the viewer.
 * Ownership: one per incarnation of a run; it reads each file once.
 */
export function createRunFiles({ own, runs, viewer }: RunFilesPorts): FileShelf {
  const loaded = new Map<string, string>();
  return {
    async load(files) {
      const missing = new Map<RunId, string[]>();
      for (const { hash, keeper } of files) {
        if (loaded.has(hash)) continue;
        const content = own(hash);
        if (content !== undefined) loaded.set(hash, content);
        else missing.set(keeper, [...(missing.get(keeper) ?? []), hash]);
      }
      for (const [keeper, hashes] of missing) {
        const answer = await runs.of(keeper).files(viewer, hashes);
        if (answer.kind !== "files") continue;
        for (const [hash, content] of Object.entries(answer.files)) loaded.set(hash, content);
      }
      return loaded;
    },
  };
}
