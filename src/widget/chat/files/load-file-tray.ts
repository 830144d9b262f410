import type { FileTray, FileTrayPorts } from "./file-tray.ts";

/**
 * Loads the tray from beside this file. Undefined: it cannot be loaded, or a newer version of the
 * page has been deployed since.
 */
export async function loadFileTray(ports: FileTrayPorts): Promise<FileTray | undefined> {
  try {
    const { edition, createFileTray } = await import("./create-file-tray.ts");
    return edition === EDITION ? createFileTray(ports) : undefined;
  } catch {
    return undefined;
  }
}
