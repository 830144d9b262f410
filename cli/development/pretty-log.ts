import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import type { MapFrame } from "./source-frames.ts";

/** A line of the log, as docs/logs.md describes it. */
interface LoggedLine {
  readonly level: string;
  readonly code: string;
  readonly errorId?: string;
  readonly error?: { readonly name: string; readonly message: string; readonly frames?: string[] };
  readonly [field: string]: unknown;
}

/** How wrangler begins its accounts of a build command that failed. They do not have the reason. */
const FAILED_BUILD = /Process exited with non-zero status|Running custom build .* failed/;

interface CopyOptions {
  readonly now?: () => Date;
  readonly mapFrame?: MapFrame;
  /** Is called with each line, before it is written. */
  readonly onLine?: (line: string) => void;
}

/**
 * Copies lines. Those of the Worker are written for people, and no empty line follows them. What
 * wrangler says of a failed build command is left out.
 */
export function copyPretty(
  from: Readable,
  to: Writable,
  { now = () => new Date(), mapFrame = (frame) => frame, onLine }: CopyOptions = {},
): void {
  let isAfterLogged = false;
  let isLeftOut = false;
  createInterface({ input: from, crlfDelay: Infinity }).on("line", (line) => {
    onLine?.(line);
    isLeftOut = FAILED_BUILD.test(line) || (isLeftOut && /^(?:\s|$)/.test(line));
    if (isLeftOut) return;
    const logged = parseLogged(line);
    if (logged) to.write(`${formatLogged(logged, { at: now(), mapFrame })}\n`);
    else if (line !== "" || !isAfterLogged) to.write(`${line}\n`);
    isAfterLogged = logged !== undefined || (isAfterLogged && line === "");
  });
}

/** Undefined for a line that is not of the log. Wrangler puts colours and a heading around it. */
function parseLogged(line: string): LoggedLine | undefined {
  const plain = stripVTControlCharacters(line);
  const start = plain.indexOf('{"level":"');
  if (start < 0) return undefined;
  try {
    const { level, code, ...rest } = JSON.parse(plain.slice(start)) as Partial<LoggedLine>;
    return level !== undefined && code !== undefined ? { level, code, ...rest } : undefined;
  } catch {
    return undefined;
  }
}

/** `12:34:56 error tool_threw err_1f… tenantId=acme toolId=desk__refund`, then the error. */
function formatLogged(
  { level, code, errorId, error, ...facts }: LoggedLine,
  { at, mapFrame }: { readonly at: Date; readonly mapFrame: MapFrame },
): string {
  const fields = Object.entries(facts).map(([name, value]) => `${name}=${show(value)}`);
  const head = [at.toTimeString().slice(0, 8), level, code, errorId ?? [], ...fields].flat();
  const frames = (error?.frames ?? []).map((frame) => `\n    at ${mapFrame(frame)}`);
  const thrown = error ? `\n  ${error.name}: ${error.message}${frames.join("")}` : "";
  return `${head.join(" ")}${thrown}`;
}

function show(value: unknown): string {
  return typeof value === "string" && !/\s/.test(value) ? value : JSON.stringify(value);
}
