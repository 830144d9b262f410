/**
 * What workerd says when a test ends an object on purpose, lets one refuse or lose its storage, or
 * leaves in the middle of a request. It says so for each waiting call, with a stack of its own
 * addresses.
 */
const PLANNED: readonly RegExp[] = [
  /broken\.outputGateBroken; jsg\.Error: (?:crash|restart|chaos|died)$/,
  /jsg\.Error: Application called (?:abort|delete)AllDurableObjects\(\)/,
  // What an object says that asked another one at that moment, and a Worker that folds a stream.
  /Uncaught \(in promise\); stack = Error: (?:chaos|crash)$/,
  /failed: jsg\.Error: crash$/,
  // Versions that test/durable-objects/storage-versions.test.ts writes.
  /storage_too_(?:new|old): the storage has version (?:99|1);/,
  // Of test/durable-objects/run-object, test/http/logs and test/http/audit-pages.
  /jsg\.Error: Error: the disk is full$/,
  /Error: no such table: log: SQLITE_ERROR$/,
  /Error: records were removed during the export$/,
  /TypeError: Can't read from request stream because client disconnected\.$/,
  /worker_do_not_log; Request failed due to internal error$/,
  /disconnected: read end of pipe was aborted$/,
];

/** Lines that tell nothing about the code. */
const IDLE: readonly RegExp[] = [
  /^Using secrets defined in process\.env$/,
  /^NOSENTRY /,
  /^Sourcemap for /,
  /^Annotating with brokenness; /,
  /^e = .* PromiseFulfiller was destroyed without fulfilling the promise\.$/,
  /^console warning; message = Called \.text\(\) on an HTTP body/,
  /^A header value for "idempotency-key" contains non-ASCII characters: /,
];

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
    if (isUncaught && !this.#isDropping) this.uncaught++;
    this.#isDropping ||= IDLE.some((idle) => idle.test(line));
    return !this.#isDropping;
  }
}
