import type { Log, LogLine, LogSubject } from "../../capabilities/log.ts";
import { maskWords, reportError } from "../../protocol/text/error-report.ts";
import { toHex } from "../../protocol/text/hex.ts";
import { randomBytes } from "./system.ts";

/** Where the lines go: the platform's console, which `wrangler tail` reads. */
export type LogConsole = Pick<Console, "log" | "warn" | "error">;

const METHODS = { info: "log", warn: "warn", error: "error" } as const;

/** Builds a log of JSON lines on the console. */
export function createConsoleLog(output: LogConsole = console, subject: LogSubject = {}): Log {
  const print = (level: LogLine["level"], line: object): void => {
    output[METHODS[level]](JSON.stringify(line));
  };
  return {
    write({ level, code, detail, ...rest }) {
      const words = detail === undefined ? {} : { detail: maskWords(detail) };
      print(level, { level, code, ...subject, ...rest, ...words });
    },
    fault(code, thrown, { mask, ...about } = {}) {
      const errorId = `err_${toHex(randomBytes(8))}`;
      const level = "error";
      print(level, {
        level,
        code,
        errorId,
        ...subject,
        ...about,
        error: reportError(thrown, mask),
      });
      return errorId;
    },
    about: (more) => createConsoleLog(output, { ...subject, ...more }),
  };
}
