import { createInterface } from "node:readline";

/** What the chat writes and reads. */
export interface Terminal {
  /** True where a person answers; false for a pipe. */
  readonly isInteractive: boolean;
  write(text: string): void;
  /** Tells what is no part of the answer. */
  note(text: string): void;
  /** Reads the next line; undefined at the end of the input. */
  ask(prompt: string): Promise<string | undefined>;
  /** Calls a function at Ctrl-C. */
  onInterrupt(listener: () => void): void;
  close(): void;
}

/** Opens the terminal of this process, or the pipe in its place. */
export function openTerminal(): Terminal {
  const isInteractive = process.stdin.isTTY;
  const lines = createInterface({
    input: process.stdin,
    ...(isInteractive && { output: process.stderr }),
    crlfDelay: Infinity,
  });
  const waiting: ((line: string | undefined) => void)[] = [];
  const kept: string[] = [];
  let isClosed = false;
  lines.on("line", (line) => {
    const next = waiting.shift();
    if (next) next(line);
    else kept.push(line);
  });
  lines.on("close", () => {
    isClosed = true;
    for (const next of waiting.splice(0)) next(undefined);
  });
  return {
    isInteractive,
    write: (text) => void process.stdout.write(text),
    note: (text) => console.error(text),
    ask(prompt) {
      if (isInteractive) process.stderr.write(prompt);
      const line = kept.shift();
      if (line !== undefined || isClosed) return Promise.resolve(line);
      return new Promise((resolve) => void waiting.push(resolve));
    },
    onInterrupt(listener) {
      lines.on("SIGINT", listener);
      process.on("SIGINT", listener);
    },
    close: () => lines.close(),
  };
}
