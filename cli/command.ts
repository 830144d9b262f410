/** One command of `interlock`. */
export interface Command {
  /** What `--help` prints, and what follows a usage error: options, exit codes. */
  readonly usage: string;
  /**
   * Runs the command with the arguments after its name. It may set `process.exitCode`.
   * Fails: throws a UsageError on wrong arguments, a CommandError on what the user can mend.
   */
  run(args: string[]): Promise<void> | void;
}

/** Wrong arguments: the command prints this text and its usage, and exits with 2. */
export class UsageError extends Error {}

/** Something that the user can mend: the command prints this text alone, and exits with 1. */
export class CommandError extends Error {}

/** Runs a parser of arguments, and turns what it throws into a UsageError. */
export function parsing<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(messageOf(error));
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Reads an option that is a whole number from 1. Fails: throws a UsageError. */
export function readNumber(option: string, text: string, most: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new UsageError(`--${option} takes a number from 1 to ${most}, not ${text}.`);
}
