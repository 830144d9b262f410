import {
  isJsonArray,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from "../../src/protocol/json/value.ts";
import type { LocalDocument } from "../push/local-documents.ts";
import { placeOf } from "../tenant-files.ts";

/** The tenant's documents, and the project that has their files. */
export interface TenantSeed {
  readonly project: string;
  readonly documents: readonly LocalDocument[];
}

/**
 * Stores the policy and the assistants of the project where the development tenant has none yet.
 * Returns the reason when that is refused.
 */
export async function seedTenant(
  url: string,
  { project, documents }: TenantSeed,
): Promise<string | undefined> {
  const refusals: (string | undefined)[] = [];
  for (const document of documents) {
    if (document.kind !== "policy" && document.kind !== "assistants") continue;
    refusals.push(await seed(url, document, project));
  }
  return refusals.find((refusal) => refusal !== undefined);
}

/** Stores a document unless there is one. Returns the reason when that is refused. */
async function seed(
  url: string,
  { key, shown }: LocalDocument,
  project: string,
): Promise<string | undefined> {
  try {
    const answer = await fetch(`${url}/v1/${key}`, {
      method: "PUT",
      headers: { "content-type": "application/json", "if-none-match": "*" },
      body: JSON.stringify(shown),
    });
    if (answer.ok || answer.status === 412) return undefined;
    return describe(await answer.text(), (pointer) => placeOf(project, key, pointer));
  } catch (error) {
    return String(error);
  }
}

/** Writes the fields that a problem document names, with their lines. */
function describe(text: string, place: (pointer: string) => string): string {
  const problem = parseObject(text);
  const errors = [problem?.["errors"]].filter(isJsonArray).flat().filter(isJsonObject);
  const lines = errors.flatMap(({ pointer, message }) =>
    typeof pointer === "string" && typeof message === "string"
      ? [`${place(pointer)}: ${pointer}: ${message}`]
      : [],
  );
  return lines.length > 0 ? lines.join("\n") : `${place("")}: ${text}`;
}

function parseObject(text: string): JsonObject | undefined {
  try {
    const value = JSON.parse(text) as JsonValue;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
