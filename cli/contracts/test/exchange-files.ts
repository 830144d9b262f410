import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { formatIssue } from "../../../src/contracts/check/shape.ts";
import type { JsonValue } from "../../../src/protocol/json/value.ts";
import { fail, ok, type Result } from "../../../src/protocol/outcome/result.ts";

/** The file itself is JSON. */
const json = v.custom<JsonValue>(() => true);
const method = v.optional(v.picklist(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]), "GET");

const upstreamRequest = v.strictObject({
  method,
  upstream: v.string(),
  path: v.array(v.string()),
  body: v.optional(json),
});
const hostRequest = v.strictObject({
  method,
  url: v.pipe(v.string(), v.url()),
  body: v.optional(json),
});
const request = v.union(
  [upstreamRequest, hostRequest],
  "must have upstream and path, or a whole url; and optionally method and body",
);

const exchangeFile = v.strictObject({
  tool: v.string(),
  exchanges: v.pipe(
    v.array(
      v.strictObject({
        request,
        response: v.strictObject({
          status: v.optional(
            v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
            200,
          ),
          headers: v.optional(v.record(v.string(), v.string()), {}),
          body: v.optional(json),
        }),
      }),
    ),
    v.minLength(1),
  ),
});

/** A request of a tool, and what the service answers to it. */
export type Exchange = v.InferOutput<typeof exchangeFile>["exchanges"][number];

/** Sample exchanges by the name of the tool. */
export type Exchanges = ReadonlyMap<string, readonly Exchange[]>;

/**
 * Reads all files `*.exchanges.json` below a folder. No Worker contains them.
 * Fails: what is wrong with a file, or that no tool has its name, with the path of the file.
 */
export function readExchanges(folder: string, tools: readonly string[]): Result<Exchanges, string> {
  const exchanges = new Map<string, readonly Exchange[]>();
  for (const file of exchangeFilesIn(folder)) {
    const parsed = parseExchanges(readFileSync(join(folder, file), "utf8"));
    if (!parsed.ok) return fail(`${file}: ${parsed.failure}`);
    const { tool, exchanges: samples } = parsed.value;
    if (!tools.includes(tool)) return fail(`${file}: there is no tool ${JSON.stringify(tool)}`);
    exchanges.set(tool, [...(exchanges.get(tool) ?? []), ...samples]);
  }
  return ok(exchanges);
}

/** Parses one file. */
export function parseExchanges(text: string): Result<v.InferOutput<typeof exchangeFile>, string> {
  try {
    const parsed = v.safeParse(exchangeFile, JSON.parse(text));
    return parsed.success ? ok(parsed.output) : fail(formatIssue(parsed.issues[0]));
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

/** Paths of the files with sample exchanges, below a folder. */
function exchangeFilesIn(folder: string): readonly string[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files.filter((file) => file.endsWith(".exchanges.json")).toSorted();
}
