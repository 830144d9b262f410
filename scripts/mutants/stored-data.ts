import type { Mutant } from "./mutant.ts";

const VERSIONS = "test/durable-objects/storage-versions.test.ts";

/** What keeps the stored data of a run and of a tenant whole. */
export const STORED_DATA: readonly Mutant[] = [
  {
    name: "storage of a newer version is used",
    file: "durable-objects/storage-version.ts",
    from: "if (stored > version) throw",
    to: "if (stored > Infinity) throw",
    test: {
      file: VERSIONS,
      name: "of a run is neither read nor written, and works again with the code that reads it",
    },
  },
  {
    name: "storage that no migration leads on from is used",
    file: "durable-objects/storage-version.ts",
    from: "if (stored < layout.oldest) throw",
    to: "if (stored < 0) throw",
    test: {
      file: VERSIONS,
      name: "of a tenant is neither read nor written, so lists answer 503 and runs dispatch nothing",
    },
  },
  {
    name: "a migration that storage has had runs again",
    file: "durable-objects/storage-version.ts",
    from: "layout.migrations.slice(stored - layout.oldest)",
    to: "layout.migrations",
    test: { file: VERSIONS, name: "of version 4 gets the migrations that it lacks, once" },
  },
  {
    name: "migrations of an object are no transaction",
    file: "durable-objects/storage-version.ts",
    from: "storage.transactionSync(() => {",
    to: "((run: () => void) => run())(() => {",
    test: { file: VERSIONS, name: "keeps everything when one of its migrations fails" },
  },
  {
    name: "the first row stays the dictionary of a run whose later steps differ",
    file: "durable-objects/run/log-rows.ts",
    from: "if (isBase) this.#newest =",
    to: "if (isBase) this.#newest ??=",
    test: {
      file: "test/durable-objects/log-rows.test.ts",
      name: "a row that resembles none is compressed alone, and is the dictionary of the next",
    },
  },
  {
    name: "the start of a step is sent before it is stored",
    file: "durable-objects/run/stored-journal.ts",
    from: 'return type === "text_delta" ||',
    to: 'return type === "step_started" || type === "text_delta" ||',
    test: {
      file: "test/durable-objects/stored-journal.test.ts",
      name: "a later step start is stored after five milliseconds, and sent only then",
    },
  },
];
