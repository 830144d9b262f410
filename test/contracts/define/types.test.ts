import * as v from "valibot";
import { expect, expectTypeOf, test } from "vitest";
import type { Clock } from "../../../src/capabilities/system.ts";
import type { Workspace } from "../../../src/capabilities/workspace.ts";
import type { AuthCapability } from "../../../src/capabilities/connection.ts";
import { defineSaga } from "../../../src/contracts/define/define-saga.ts";
import { defineTool } from "../../../src/contracts/define/define-tool.ts";
import {
  defineOperation,
  type WorkspaceOperation,
} from "../../../src/contracts/define/define-workspace.ts";
import type { ClosedObjectSchema, ToolContract } from "../../../src/contracts/define/definition.ts";
import { fail, ok } from "../../../src/protocol/outcome/result.ts";

/*
 * What an author gets wrong does not compile. Each `@ts-expect-error` is a test of its own: the
 * compiler refuses one that has nothing to expect (`npm run check:lint`).
 */

const input = v.strictObject({ city: v.string(), days: v.optional(v.number(), 1) });
const output = v.strictObject({ degrees: v.number() });
const base = {
  name: "test__weather",
  version: "1.0.0",
  description: "Weather.",
  input,
  output,
  sideEffectClass: "READ_ONLY",
  effect: "read_only",
  redaction: { args: [], output: [] },
} as const;

test("execute gets the arguments as the schema lets them through", () => {
  const tool = defineTool({
    ...base,
    capabilities: ["clock"],
    rules: [
      {
        code: "near",
        message: "at most 9 days",
        holds(args) {
          expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
          return args.days < 10;
        },
      },
    ],
    execute(args, context, capabilities) {
      expectTypeOf(args).toEqualTypeOf<{ city: string; days: number }>();
      expectTypeOf(context.tenantId).toBeString();
      expectTypeOf(capabilities.clock).toEqualTypeOf<Clock>();
      expectTypeOf(capabilities.signal).toEqualTypeOf<AbortSignal>();
      expectTypeOf(capabilities.idempotencyKey).toBeString();
      return ok({ degrees: 1 });
    },
  });
  expectTypeOf(tool).toExtend<ToolContract<typeof input, typeof output, "clock">>();
});

test("a connection's credentials come with the capability auth alone", () => {
  defineTool({
    ...base,
    capabilities: ["auth"],
    requiresConnection: true,
    execute(_args, _context, { auth }) {
      expectTypeOf(auth).toEqualTypeOf<AuthCapability>();
      return ok({ degrees: 1 });
    },
  });
});

test("a wrong result does not compile", () => {
  // @ts-expect-error degrees is a number
  defineTool({ ...base, capabilities: [], execute: () => ok({ degrees: "1" }) });
  // @ts-expect-error degrees is missing
  defineTool({ ...base, capabilities: [], execute: () => ok({}) });
  // @ts-expect-error a result is wrapped in ok()
  defineTool({ ...base, capabilities: [], execute: () => ({ degrees: 1 }) });
  const failure = { taxonomyClass: "NO", errors: [] } as const;
  // @ts-expect-error a failure has one of the taxonomy's classes
  defineTool({ ...base, capabilities: [], execute: () => fail(failure) });
  // @ts-expect-error success is no failure
  defineTool({ ...base, capabilities: [], execute: () => fail({ taxonomyClass: "SUCCESS" }) });
});

test("a wrong argument does not compile", () => {
  // @ts-expect-error town is no argument
  defineTool({ ...base, capabilities: [], execute: ({ town }) => ok({ degrees: Number(town) }) });
  // @ts-expect-error city is a string
  defineTool({ ...base, capabilities: [], execute: ({ city }) => ok({ degrees: city }) });
});

test("a capability that is not named, or not there, does not compile", () => {
  defineTool({
    ...base,
    capabilities: [],
    // @ts-expect-error clock is not named
    execute: (_args, _context, { clock }) => ok({ degrees: clock.nowMs() }),
  });
  defineTool({
    ...base,
    // @ts-expect-error the network itself is no tool's
    capabilities: ["egress"],
    execute: () => ok({ degrees: 1 }),
  });
  defineTool({
    ...base,
    // @ts-expect-error there is no such capability
    capabilities: ["fetch"],
    execute: () => ok({ degrees: 1 }),
  });
});

test("a wrong example does not compile", () => {
  const execute = (): ReturnType<typeof ok<{ degrees: number }>> => ok({ degrees: 1 });
  const make = { ...base, capabilities: [], execute } as const;
  defineTool({ ...make, examples: [{ description: "Now.", arguments: { city: "Ulm" } }] });
  // @ts-expect-error city is a string
  defineTool({ ...make, examples: [{ description: "Now.", arguments: { city: 1 } }] });
  // @ts-expect-error city is missing
  defineTool({ ...make, examples: [{ description: "Now.", arguments: {} }] });
  // @ts-expect-error town is no argument
  defineTool({ ...make, examples: [{ description: "Now.", arguments: { city: "Ulm", town: 1 } }] });
});

test("a contract without its redaction, or with an open schema, does not compile", () => {
  const execute = (): ReturnType<typeof ok<{ degrees: number }>> => ok({ degrees: 1 });
  const make = { ...base, capabilities: [], execute } as const;
  const { redaction: _, ...unredacted } = make;
  // @ts-expect-error redaction is missing
  const missing = (): unknown => defineTool(unredacted);
  // @ts-expect-error unknown fields would pass
  const open = (): unknown => defineTool({ ...make, input: v.object({}) });
  // @ts-expect-error there is no such class
  const unclassed = (): unknown => defineTool({ ...make, sideEffectClass: "SAFE" });
  expect(missing).not.toThrow();
  expect(open).not.toThrow();
  expect(unclassed).toThrow("no side-effect class SAFE");
});

test("a wrong answer of reconcile or describe does not compile", () => {
  const execute = (): ReturnType<typeof ok<{ degrees: number }>> => ok({ degrees: 1 });
  const make = { ...base, capabilities: [], execute } as const;
  defineTool({
    ...make,
    // @ts-expect-error degrees is a number
    reconcile: () => Promise.resolve({ kind: "committed", output: { degrees: "1" } }),
  });
  // @ts-expect-error the consequence is missing
  defineTool({ ...make, describe: () => ({ action: "Ask" }) });
  // @ts-expect-error an error has one of the taxonomy's classes
  defineTool({ ...make, errors: { gone: "GONE" } });
});

const invoice = v.strictObject({
  id: v.string(),
  cents: v.number(),
  note: v.optional(v.nullable(v.string())),
});
const listInvoices = defineOperation({
  name: "list_invoices",
  kind: "read",
  input: v.strictObject({ ids: v.array(v.string()), span: v.optional(v.array(v.number())) }),
  output: v.strictObject({ invoices: v.array(invoice), pair: v.tuple([v.string(), v.number()]) }),
  run(sql, { ids }) {
    const found = sql.rows(invoice, "SELECT * FROM invoices");
    const wanted: readonly v.InferOutput<typeof invoice>[] = found.filter(({ id }) =>
      ids.includes(id),
    );
    const pair: readonly [string, number] = ["all", wanted.length];
    return ok({ invoices: wanted, pair });
  },
});
const all: readonly string[] = ["inv_1"];

test("what is read and never changed fits every output: no cast in a tool of a workspace", () => {
  const rowsAsTheyAre = defineOperation({
    ...listInvoices,
    run: (sql) => ok({ invoices: sql.rows(invoice, "SELECT 1"), pair: ["all", 1] }),
  });
  const payable = defineTool({
    name: "payables__list",
    version: "1.0.0",
    description: "Lists invoices.",
    input: v.strictObject({ ids: v.optional(v.array(v.string())) }),
    output: v.strictObject({ invoices: v.array(invoice), ids: v.array(v.string()) }),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: [] },
    capabilities: ["workspace"],
    workspace: "payables",
    examples: [{ description: "All.", arguments: { ids: all } }],
    async checkState({ ids = all }, _context, { workspace }) {
      const read = await workspace.call(rowsAsTheyAre, { ids });
      return read.ok ? ok(null) : read;
    },
    async preview(_args, _context, { workspace }) {
      const read = await workspace.call(listInvoices, { ids: all });
      return { before: read.ok ? { invoices: read.value.invoices } : null, after: null };
    },
    async execute({ ids }, _context, { workspace }) {
      const read = await workspace.call(listInvoices, { ids: ids ?? all });
      if (!read.ok) return read;
      const invoices: readonly v.InferOutput<typeof invoice>[] = read.value.invoices;
      return ok({ invoices, ids: all });
    },
    reconcile: () => Promise.resolve({ kind: "committed", output: { invoices: [], ids: all } }),
  });
  defineSaga({
    name: "payables__list_all",
    version: "1.0.0",
    description: "Lists invoices.",
    input: v.strictObject({}),
    output: v.strictObject({ ids: v.array(v.string()) }),
    sideEffectClass: "READ_ONLY",
    effect: "read_only",
    redaction: { args: [], output: [] },
    steps: [{ tool: payable, arguments: () => ({ ids: all }) }],
    result: (_args, results) => {
      const ids: readonly string[] = results.of(payable).ids;
      return { ids };
    },
  });
  // @ts-expect-error ids are texts
  void ((workspace: Workspace) => workspace.call(listInvoices, { ids: [1] }));
  // @ts-expect-error cents is a number
  defineOperation({ ...listInvoices, run: () => ok({ invoices: [{ id: "1", cents: "1" }] }) });
});

/** What an author wraps every result in. */
function wrapped<Taken, Data>(args: v.GenericSchema<Taken>, data: v.GenericSchema<Data>) {
  return v.strictObject({ args, data });
}

interface Parts<Args, Data> {
  readonly takeBack?: (data: Data, args: Args) => object;
  readonly describe?: (args: Args) => string;
  readonly example?: Args;
}

/** Makes the tool of any operation, with parts that it may lack. */
function toolOf<Taken extends object, Args extends Taken, Data extends object>(
  operation: WorkspaceOperation<
    "read" | "write",
    ClosedObjectSchema<Taken, Args>,
    ClosedObjectSchema<Data>
  >,
  { takeBack, describe, example }: Parts<Args, Data>,
) {
  const { input: taken } = operation;
  const made = wrapped(taken, operation.output);
  const tool = {
    ...base,
    name: `payables__${operation.name}`,
    input: taken,
    output: made,
    capabilities: ["workspace"],
    workspace: "payables",
  } as const;
  void defineTool<typeof taken, typeof made, "workspace">({
    ...tool,
    // @ts-expect-error the data lacks its wrapper
    execute: (args, _context, { workspace }) => workspace.call(operation, args),
  });
  void defineTool<typeof taken, typeof made, "workspace">({
    ...tool,
    // @ts-expect-error these are the arguments of any call, not of this one
    execute: (args) => ok({ args: {}, data: args }),
  });
  void defineTool<typeof taken, typeof made, "workspace">({
    ...tool,
    // @ts-expect-error the arguments of the operation are not its data
    ...(takeBack && { compensate: (args, { data }) => takeBack(args, data) }),
    execute: () => fail({ taxonomyClass: "UNKNOWN_ERROR", errors: [] }),
  });
  return defineTool<typeof taken, typeof made, "workspace">({
    ...tool,
    examples: example ? [{ description: "One.", arguments: example }] : [],
    ...(takeBack && { compensate: (args, { data }) => takeBack(data, args) }),
    ...(describe && { describe: (args) => ({ action: describe(args), consequence: "None." }) }),
    async execute(args, _context, { workspace }) {
      const answer = await workspace.call(operation, args);
      return answer.ok ? ok({ args, data: answer.value }) : answer;
    },
  });
}

test("a tool of any operation, with parts that it may lack, needs no cast", () => {
  const findInvoice = defineOperation({
    name: "find_invoice",
    kind: "read",
    input: v.strictObject({ id: v.string(), days: v.optional(v.number(), 1) }),
    output: invoice,
    run: (_sql, { id }) => ok({ id, cents: 1 }),
  });
  const tool = toolOf(findInvoice, { describe: ({ days }) => `Reads ${days.toFixed()} days` });
  expectTypeOf<v.InferOutput<(typeof tool)["output"]>["data"]>().toEqualTypeOf<
    v.InferOutput<typeof invoice>
  >();
  expectTypeOf<v.InferInput<(typeof tool)["input"]>>().toEqualTypeOf<{
    id: string;
    days?: number | undefined;
  }>();
  expect(tool.describe?.({ id: "a", days: 2 }, null).action).toBe("Reads 2 days");
  expect(tool).not.toHaveProperty("compensate");
  // @ts-expect-error town is no argument of the operation
  toolOf(findInvoice, { describe: ({ town }) => String(town) });
  // @ts-expect-error the data of an invoice are no text
  toolOf(findInvoice, { takeBack: (data: string) => ({ data }) });
  // @ts-expect-error days is a number
  toolOf(findInvoice, { example: { id: "a", days: "2" } });
});
