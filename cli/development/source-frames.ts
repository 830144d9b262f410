import { readdirSync, readFileSync, statSync } from "node:fs";
import { SourceMap, type SourceMapPayload } from "node:module";
import { dirname, join, relative, resolve } from "node:path";

/** Writes a frame of a bundle as the place in the source; a frame that it does not know stays. */
export type MapFrame = (frame: string) => string;

const PLACE = /[^\s()]*?([\w.-]+\.m?js):(\d+):(\d+)(?=\)?$)/;
const MAP_NAME = "index.js.map";

/**
 * Maps frames with one source map, a file beside its bundle. Paths are relative to the project.
 * Fails: throws when the file is no source map.
 */
export function mapFrames(file: string, project: string): MapFrame {
  const map = new SourceMap(JSON.parse(readFileSync(file, "utf8")) as SourceMapPayload);
  return (frame) =>
    frame.replace(PLACE, (place) => {
      const [, bundle, line, column] = PLACE.exec(place) ?? [];
      if (!file.endsWith(`${bundle}.map`)) return place;
      const origin = map.findOrigin(Number(line), Number(column));
      if (!("fileName" in origin)) return place;
      const source = relative(project, resolve(dirname(file), origin.fileName));
      return `${source}:${origin.lineNumber}:${origin.columnNumber}`;
    });
}

/**
 * Maps frames of the Worker of `wrangler dev`, which bundles into a folder of its own below
 * `.wrangler/tmp`, again at each change. Folders that exist already belong to other servers.
 * Contract: never throws; without a readable map, a frame stays as it is.
 */
export function followFrames(project: string): MapFrame {
  const folder = join(project, ".wrangler/tmp");
  const foreign = new Set(bundlesIn(folder));
  let known: { readonly version: string; readonly mapFrame: MapFrame } | undefined;
  return (frame) => {
    try {
      const own = bundlesIn(folder).filter((name) => !foreign.has(name));
      const files = own.map((name) => join(folder, name, MAP_NAME));
      const [newest] = files
        .map((file) => ({ file, mtimeMs: statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
        .toSorted((a, b) => b.mtimeMs - a.mtimeMs);
      if (!newest) return frame;
      const version = `${newest.file} ${newest.mtimeMs}`;
      if (known?.version !== version) {
        known = { version, mapFrame: mapFrames(newest.file, project) };
      }
      return known.mapFrame(frame);
    } catch {
      return frame;
    }
  };
}

function bundlesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder).filter((name) => name.startsWith("dev-"));
  } catch {
    return [];
  }
}
