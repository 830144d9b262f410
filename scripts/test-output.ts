/**
 * What workerd says when a test ends an object on purpose, or lets one refuse its storage. It says
 * so for each waiting call, with a stack of its own addresses.
 */
const PLANNED: readonly RegExp[] = [
  /broken\.outputGateBroken; jsg\.Error: (?:crash|restart)$/,
  /jsg\.Error: Application called abortAllDurableObjects\(\)/,
  // Versions that test/durable-objects/storage-versions.test.ts writes.
  /storage_too_(?:new|old): the storage has version (?:99|1);/,
];

/** Lines that tell nothing about the code. */
const IDLE: readonly RegExp[] = [/^Using secrets defined in process\.env$/, /^NOSENTRY /];

const UNCAUGHT = /^(?:uncaught )?exception(?: =|;)/;
const DETAIL = /^(?:stack: |\s+at )/;

/**
 * Decides which lines of a test run are printed: all but the exceptions that tests plan, with their
 * stacks. Counts the other exceptions that nobody caught: they fail a test run.
 * Contract: lines in the order of their stream; one reader for each stream.
 */
export class TestOutput {
  /** Exceptions that no test planned. */
  uncaught = 0;
  #isDropping = false;

  /** Tells whether a line is printed. */
  shows(line: string): boolean {
    if (DETAIL.test(line)) return !this.#isDropping;
    const isUncaught = UNCAUGHT.test(line);
    this.#isDropping = isUncaught && PLANNED.some((planned) => planned.test(line));
    if (this.#isDropping) return false;
    if (isUncaught) this.uncaught++;
    return !IDLE.some((idle) => idle.test(line));
  }
}
