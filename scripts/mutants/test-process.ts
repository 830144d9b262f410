import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** A test by its file, from the root, and its title, or the end that a row of a table gives it. */
export interface NamedTest {
  readonly file: string;
  readonly name: string;
}

/** What the child is asked to run, and the files that changed since its last test run. */
export interface Asked {
  readonly tests: readonly NamedTest[];
  readonly changed: readonly string[];
}

/** How a test ended. */
export interface Ended extends NamedTest {
  readonly state: "passed" | "failed" | "skipped" | "pending";
  /** The first error of a failed test. */
  readonly error?: string | undefined;
}

/** A change may hang its test, so that not even its timeout comes. Units: milliseconds. */
const MAX_START_MS = 240_000;
const MAX_TEST_MS = 60_000;

/** Runs tests of a copy of the sources, in a process that stays. Ownership: the caller ends it. */
export class TestProcess {
  readonly #copy: string;
  readonly #projects: readonly string[];
  readonly #changed = new Set<string>();
  #child: ChildProcess | undefined;

  constructor(copy: string, files: readonly string[]) {
    this.#copy = copy;
    const inNode = files.filter((file) => file.endsWith(".node.test.ts")).length;
    this.#projects = [
      ...(inNode > 0 ? ["node", "pages"] : []),
      ...(inNode < files.length ? ["workerd"] : []),
    ];
  }

  /** Changes a file of the copy for the test runs that follow. */
  write(file: string, text: string): void {
    writeFileSync(join(this.#copy, file), text);
    this.#changed.add(file);
  }

  /** Contract: never throws. Answers nothing when the tests hang or their process ends. */
  async run(tests: readonly NamedTest[]): Promise<readonly Ended[]> {
    this.#child ??= fork(join(import.meta.dirname, "test-child.ts"), this.#projects, {
      cwd: this.#copy,
      stdio: ["ignore", "ignore", "ignore", "ipc"],
    });
    const child = this.#child;
    child.send({ tests, changed: [...this.#changed] } satisfies Asked);
    this.#changed.clear();
    const over = new AbortController();
    const signal = AbortSignal.any([
      over.signal,
      AbortSignal.timeout(MAX_START_MS + tests.length * MAX_TEST_MS),
    ]);
    const answer = once(child, "message", { signal }).then(([ended]) => ended as Ended[]);
    const exit = once(child, "exit", { signal }).then(() => undefined);
    const ended = await Promise.race([answer, exit]).catch(() => undefined);
    over.abort();
    await Promise.allSettled([answer, exit]);
    if (!ended) this.end();
    return ended ?? [];
  }

  end(): void {
    this.#child?.kill();
    this.#child = undefined;
  }
}
