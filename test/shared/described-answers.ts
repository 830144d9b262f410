import { lineWire } from "../fakes/line-wire.ts";
import { apiDocument, type DescribedOperation } from "./api-document.ts";
import { findMismatch } from "./check-schema.ts";

interface Operation extends Pick<DescribedOperation, "responses"> {
  readonly pattern: RegExp;
}

/** Headers of ours; the others belong to the connection, to browsers and to every answer. */
const OWN_HEADERS = Object.keys(apiDocument.components.headers).map((name) => name.toLowerCase());

/** Answers that may never end, or that a test breaks off. */
const STREAMED = /\/(?:export|events|stream)$/;

const operations = new Map<string, Operation[]>();
for (const [path, methods] of Object.entries(apiDocument.paths)) {
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`);
  for (const [method, { responses }] of Object.entries(methods)) {
    const known = operations.get(method.toUpperCase()) ?? [];
    const operation = { pattern, responses };
    // An address without parameters comes before those with some.
    const others = path.includes("{") ? [...known, operation] : [operation, ...known];
    operations.set(method.toUpperCase(), others);
  }
}

/**
 * Compares an answer with what the document of the API says of its route: status, code, headers
 * and every field. Fails: throws where they differ, so that the test of the route fails.
 */
export async function checkDescribed(request: Request, response: Response): Promise<void> {
  const { pathname } = new URL(request.url);
  const { responses } =
    operations.get(request.method)?.find(({ pattern }) => pattern.test(pathname)) ?? {};
  // The wire of the tests is no wire of the product.
  const isOfTests = response.headers.get("x-wire")?.startsWith(`${lineWire.name};`);
  if (!responses || isOfTests) return;
  const differ = (why: string): never => {
    const asked = `${request.method} ${pathname} answered ${response.status}`;
    throw new Error(`${asked}, and the document of the API says otherwise: ${why}`);
  };
  const { headers = {}, content = {} } =
    responses[response.status] ?? differ("it has no such status");
  const described = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const header = OWN_HEADERS.find((name) => response.headers.has(name) && !described.has(name));
  if (header !== undefined) differ(`it has no header ${header} there`);
  const type = response.headers.get("content-type")?.split(";")[0];
  if (type === undefined) return;
  const shape = content[type] ?? differ(`it has no ${type} there`);
  if (!/[/+]json$/.test(type) || STREAMED.test(pathname)) return;
  const body: unknown = await response.clone().json();
  const mismatch = findMismatch(body, shape.schema, apiDocument.components.schemas);
  if (mismatch !== undefined) differ(mismatch);
}
