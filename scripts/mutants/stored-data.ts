import type { Mutant } from "./mutant.ts";

/** What keeps the stored data of a run and of a tenant whole. */
export const STORED_DATA: readonly Mutant[] = [
  {
    name: "a start that earlier code stored has no tool name",
    file: "durable-objects/run/event-log.ts",
    from: "event.toolName ?? this.#proposedName(event.part)",
    to: "event.toolName as string",
    test: {
      file: "test/durable-objects/event-log.test.ts",
      name: "a stored start without a tool name gets the name of its proposal",
    },
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
    name: "a migration renames no field",
    file: "durable-objects/run/run-migrations.ts",
    from: 'sql.exec("UPDATE invocations SET ending = ? WHERE seq = ?", text, seq);',
    to: "void text;",
    test: {
      file: "test/durable-objects/stored-by-earlier-code.test.ts",
      name: "is migrated when it wakes, to the current version and field names",
    },
  },
  {
    name: "storage of a newer version is used",
    file: "durable-objects/storage-version.ts",
    from: "if (stored > version) {",
    to: "if (stored > Infinity) {",
    test: {
      file: "test/durable-objects/stored-by-earlier-code.test.ts",
      name: "of a run is neither read nor written, and works again with the newer code",
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
  {
    name: "a status without a kind is not understood",
    file: "src/adapters/durable-run-gateway.ts",
    from: "named === null ? statuses[name] === status : name === named",
    to: "name === named",
    test: {
      file: "test/durable-objects/versions-side-by-side.test.ts",
      name: "reads the status 200 of an object of the previous release",
    },
  },
  {
    name: "the status of an object counts more than the kind that it names",
    file: "src/adapters/durable-run-gateway.ts",
    from: "named === null ? statuses[name] === status : name === named",
    to: "statuses[name] === status",
    test: {
      file: "test/durable-objects/versions-side-by-side.test.ts",
      name: "reads the kind that an object names, not the status",
    },
  },
];
