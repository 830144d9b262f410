import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import * as v from "valibot";
import { expect, test } from "vitest";
import { parseExchanges } from "../../cli/contracts/test/exchange-files.ts";
import { readPeople } from "../../cli/development/people.ts";
import { readLocalDocument } from "../../cli/push/local-documents.ts";
import { environmentsDocument } from "../../cli/push/target.ts";
import { assistantDocument } from "../../src/protocol/assistant/document.ts";
import { parseConnectionKeys } from "../../src/protocol/connection/keys.ts";
import { parseConnection } from "../../src/protocol/connection/stored.ts";
import { readJwtSettings } from "../../src/protocol/identity/jwt-settings.ts";
import { MODEL_WIRE_IDS } from "../../src/protocol/model/declaration.ts";
import { parseToolPolicy } from "../../src/protocol/policy/document.ts";
import { isFailureClass, TAXONOMY_CLASSES } from "../../src/protocol/outcome/taxonomy.ts";
import { tenantProviderBody } from "../../src/protocol/provider/tenant-provider.ts";
import { decisionBody } from "../../src/http/approvals/approvals.ts";
import { chatRequestBody } from "../../src/protocol/run/chat-request.ts";
import { invokeBody } from "../../src/protocol/run/direct-call.ts";
import { blocksIn, nameOf, ROOT } from "./code-blocks.ts";
import { bodyOf } from "./sent-bodies.ts";
import { isTyped } from "./typed-json.ts";

type Accept = (value: unknown) => boolean;

const isAcceptedBy =
  (schema: v.GenericSchema): Accept =>
  (value) =>
    v.safeParse(schema, value).success;

/** The product's own readers of documents. Each refuses unknown fields. */
const READERS: Readonly<Record<string, Accept>> = {
  policy: (value) => parseToolPolicy(value) !== undefined,
  "part of a policy": (value) =>
    parseToolPolicy({ allowedTools: [], ...(value as object) }) !== undefined,
  "rules of a policy": (value) =>
    parseToolPolicy({ allowedTools: [], argumentRules: value }) !== undefined,
  "callers of a policy": (value) =>
    parseToolPolicy({ allowedTools: [], callers: value }) !== undefined,
  assistant: isAcceptedBy(assistantDocument),
  connection: (value) =>
    parseConnection(JSON.stringify(value), { allowsLoopback: false }) !== undefined,
  "connection keys": (value) => parseConnectionKeys(withKeys(value)) !== undefined,
  provider: isAcceptedBy(tenantProviderBody({ allowsLoopback: false }, MODEL_WIRE_IDS)),
  "issuer of tokens": (value) => readJwtSettings(JSON.stringify(value), undefined).ok,
  "chat request": isAcceptedBy(chatRequestBody),
  "decision of a person": isAcceptedBy(decisionBody),
  "direct call": isAcceptedBy(invokeBody),
  "message of a chat request": (value) =>
    v.safeParse(chatRequestBody, { messages: [value] }).success,
  "people of development": isPeople,
  "sample exchanges": (value) => parseExchanges(JSON.stringify(value)).ok,
  "addresses of environments": isAcceptedBy(environmentsDocument),
  "file of a connection": isConnectionFile,
  observation: compileObservation(),
};

test.each(
  blocksIn("json")
    .filter((block) => !isTyped(block) && !bodyOf(block))
    .map((block) => [nameOf(block), block] as const),
)("the product accepts %s", (_name, { text }) => {
  const value: unknown = JSON.parse(fillIn(text));
  const accepting = Object.keys(READERS).filter((name) => READERS[name]?.(value));
  expect(accepting, "no reader accepts it; see READERS and typed-json.ts").not.toEqual([]);
});

/** Documents shorten what is long and different each time. */
function fillIn(text: string): string {
  return text
    .replaceAll('"apiKey": "..."', '"apiKey": "sk-0123456789abcdef"')
    .replaceAll("iVBORw0...", "iVBORw0KGgo=")
    .replaceAll("JVBERi0...", "JVBERi0xLjc=")
    .replaceAll("run_...", `run_${"0".repeat(32)}_${"1".repeat(32)}`);
}

function isPeople(value: unknown): boolean {
  const folder = mkdtempSync(join(tmpdir(), "interlock-docs-"));
  try {
    const file = join(folder, "people.json");
    writeFileSync(file, JSON.stringify(value));
    return readPeople(file).size > 0;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function isConnectionFile(value: unknown): boolean {
  try {
    return (
      readLocalDocument({ kind: "connections", id: "crm", document: value }).key ===
      "connections/crm"
    );
  } catch {
    return false;
  }
}

function withKeys(value: unknown): string {
  const key = Buffer.alloc(32, 1).toString("base64");
  return JSON.stringify(value).replaceAll(/(?:NEW|OLD)_KEY/g, key);
}

function compileObservation(): Accept {
  const ajv = new Ajv2020({ strict: false });
  addFormats(ajv);
  const file = join(ROOT, "cli/contracts/test/observation.schema.json");
  const validate = ajv.compile(JSON.parse(readFileSync(file, "utf8")) as object);
  return (value) => validate(value);
}

test("docs/gates.md names every class that checkState may answer", () => {
  const guide = readFileSync(join(ROOT, "docs/gates.md"), "utf8");
  const [, section = ""] = guide.split("### What `checkState` may answer");
  const [table = ""] = section.split("\n## ");
  const lost = TAXONOMY_CLASSES.filter(isFailureClass).filter((name) => !table.includes(name));
  expect(lost).toEqual([]);
});
