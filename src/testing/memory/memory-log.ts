import type { Log, LogLine, LogSubject } from "../../capabilities/log.ts";

/** Keeps what is logged. Error ids count from 1. */
export class MemoryLog implements Log {
  readonly lines: LogLine[] = [];
  readonly faults: (LogSubject & { readonly code: string; readonly thrown: unknown })[] = [];

  write(line: LogLine): void {
    this.lines.push(line);
    const { mismatch, code } = line;
    if (mismatch !== undefined) this.faults.push({ ...line, code, thrown: mismatch });
  }

  fault(code: string, thrown: unknown, about: LogSubject = {}): string {
    this.faults.push({ ...about, code, thrown });
    return `err_${this.faults.length}`;
  }

  about(): Log {
    return this;
  }
}
